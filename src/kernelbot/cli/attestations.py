"""Signed results: `submission attest`, `verify`, `signing-key list|replace`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.errors import REFUSED, report_error
from kernelbot.cli.examples import examples
from kernelbot.cli.extras import require_extra
from kernelbot.cli.options import Force, Json, Url
from kernelbot.cli.session import connect, connected
from kernelbot.cli.terminal import Terminal, as_document, columns
from kernelbot.cli.writing import write_file
from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.attestations.answers import SigningKeyList
    from kernelbot.attestations.schemas import AttestedRun
    from kernelbot.client.documents import VerifiedDocument
    from kernelbot.client.recomputing import ScoreCheck

Id = Annotated[int, Argument(min=1, help="The submission's number.")]
_PROVES = (
    "This proves: the key's owner signed exactly this. It doesn't prove that they measured well, "
    "nor what the platform decided later, such as a refusal."
)
_NOT_PINNED = (
    "Anybody can make a key: --key says whose it must be. "
    "The platform shows its keys at /api/v1/signing-keys."
)


def register(app: Commands) -> None:
    """Add the commands."""
    app.command(
        epilog=examples(
            "kernelbot verify submission-12.json",
            "kernelbot verify submission-12.json --source mine.py",
            "kernelbot verify submission-12.json --key KEY --json | jq .result.score_s",
            "Exit codes: 0 it fits; 1 it doesn't; 2 bad usage or file.",
        )
    )(verify)
    group = Commands("The keys by which the platform signs results.")
    group.command("list", epilog=examples("kernelbot signing-key list"))(list_keys)
    group.command(epilog=examples("kernelbot signing-key replace"))(replace)
    app.add(group, "signing-key")


def register_submissions(group: Commands) -> None:
    """Add the command to `submission`."""
    group.command(
        epilog=examples(
            "kernelbot submission attest 12",
            "kernelbot submission attest 12 --output mine.json",
            "To check it, anywhere: kernelbot verify mine.json",
        )
    )(attest)


def attest(
    submission_id: Id,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Default: submission-ID.json.", show_default=False),
    ] = None,
    force: Force = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Save a submission's results as one document that the platform has signed.

    It has every sample of what was timed, and of secret runs never the data.
    """
    terminal = Terminal(as_json)
    path = output or Path(f"submission-{submission_id}.json")
    with connect(url, terminal) as client:
        document = client.attestation(submission_id)
    text = json.dumps(as_document(document), indent=2) + "\n"
    write_file(path, text, force=force, option="--output")
    key = document.signatures[0].keyid
    terminal.show(f"{path}: signed by key {key}\nTo check it: kernelbot verify {path}")
    terminal.document({"file": str(path), "key_id": key})


def verify(
    file: Annotated[Path, Argument(help="A document of `submission attest`.")],
    key: Annotated[
        str | None, Option(help="The public key that must have signed it, or its id.")
    ] = None,
    source: Annotated[
        Path | None, Option(help="Also check that this is the file that was judged.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a signed result, without a server: the signature, and the scores by the samples."""
    require_extra("verify")
    from kernelbot.client.documents import DoesNotFit
    from kernelbot.client.documents import verify as verified
    from kernelbot.client.recomputing import DoesNotFollow

    terminal = Terminal(as_json)
    try:
        found = verified(_read(file), key)
        if source is not None:
            _check_source(found, source)
    except (DoesNotFit, DoesNotFollow) as error:
        report_error(error, as_json=as_json)
        raise Exit(REFUSED) from None
    terminal.show(_report(found))
    document = {
        "key_id": found.key_id,
        "pinned": found.is_pinned,
        "scores": [
            {"run_id": check.run_id, "computed_again": check.outcome, "samples": check.samples}
            for check in found.checks
        ],
        "result": found.result.model_dump(mode="json"),
    }
    terminal.document(document)


def _read(path: Path) -> bytes:
    """Read of a document that is too large only one byte more than the limit."""
    from kernelbot.attestations.answers import MAX_BYTES

    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.") from None


def _check_source(found: VerifiedDocument, path: Path) -> None:
    from kernelbot.catalog.sources import read_source
    from kernelbot.client.documents import DoesNotFit

    if hashlib.sha256(read_source(path)).hexdigest() != found.result.source.sha256:
        raise DoesNotFit(f"{path} isn't the file that was judged: its hash is another.")


def _report(found: VerifiedDocument) -> str:
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    result = found.result
    score = "" if result.score_s is None else f", {seconds_text(result.score_s)}"
    review = "" if result.review == "clear" else f" (review: {result.review})"
    headers = (
        "run",
        "device",
        "data",
        "verdict",
        "score",
        "95 % interval, this judging",
        "samples",
        "harness",
    )
    title = f"Submission {result.submission_id} by {one_line(result.author)}"
    lines = [
        f"The signature fits. Key: {found.key_id}",
        "",
        f"{title} to {one_line(result.board)}: {result.verdict.words}{score}{review}",
        f"Signed {result.signed_at:%Y-%m-%d %H:%M:%S} UTC; source SHA-256 {result.source.sha256}",
        "",
        table(headers, [_row(run) for run in result.runs], right=("run",), columns=columns()),
        *_score_checks(found),
        "",
        _PROVES,
    ]
    return "\n".join(lines if found.is_pinned else [*lines, _NOT_PINNED])


def _score_checks(found: VerifiedDocument) -> list[str]:
    """A line for each run that has a score."""
    from kernelbot.client.recomputing import RecomputeOutcome

    scored = [check for check in found.checks if check.outcome is not RecomputeOutcome.NO_SCORE]
    return [f"Run {check.run_id}: {_score_check(check)}" for check in scored]


def _score_check(check: ScoreCheck) -> str:
    from kernelbot.client.recomputing import RecomputeOutcome

    return {
        RecomputeOutcome.EQUAL: f"score computed again from {check.samples:,} samples: equal",
        RecomputeOutcome.NO_SCORE: "no score",
        RecomputeOutcome.WITHHELD: "score not computed again: its samples aren't in the document",
        RecomputeOutcome.SCRIPT: "score not computed again: the problem's own script reports no "
        "samples",
        RecomputeOutcome.OLDER: "score not computed again: the document is older than that",
    }[check.outcome]


def _row(run: AttestedRun) -> tuple[str, ...]:
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    interval = " .. ".join(seconds_text(end) for end in run.score_ci95_s or ())
    samples = sum(len(load.samples_ns) for load in run.workloads)
    harness = f"{run.harness.version or 'not recorded'} {(run.harness.sha256 or '')[:12]}".strip()
    return (
        str(run.run_id),
        one_line(run.device),
        "secret" if run.secret else "public",
        run.verdict.words,
        "" if run.score_s is None else seconds_text(run.score_s),
        interval,
        "withheld" if run.samples_withheld else str(samples),
        one_line(harness),
    )


def list_keys(url: Url = None, as_json: Json = False) -> None:
    """Show the public keys that have signed results here, the newest first."""
    with connected(url, as_json) as (terminal, client):
        found = client.signing_keys()
    _show_keys(terminal, found)


def replace(url: Url = None, as_json: Json = False) -> None:
    """Sign by a new key from now on; what the old one has signed stays valid. For admins."""
    with connected(url, as_json) as (terminal, client):
        found = client.replace_signing_key()
    _show_keys(terminal, found)


def _show_keys(terminal: Terminal, found: SigningKeyList) -> None:
    from kernelbot.render.table import table

    rows = [
        (
            key.public_key,
            key.key_id[:12],
            f"{key.created_at:%Y-%m-%d %H:%M}",
            f"{key.retired_at:%Y-%m-%d %H:%M}" if key.retired_at else "in use",
        )
        for key in found.keys
    ]
    none = "None: nothing was signed yet. To sign: kernelbot submission attest ID"
    headers = ("public key", "id", "made (UTC)", "until (UTC)")
    terminal.answer(table(headers, rows, columns=columns()) if rows else none, found)
