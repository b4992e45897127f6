"""Results as signed documents, which can be checked without asking the platform."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.attestations import store as attestations
from kernelbot.attestations.answers import PAYLOAD_TYPE, SignatureView, SignedDocument
from kernelbot.attestations.model import ProblemVersionName, SigningKey
from kernelbot.attestations.schemas import (
    AttestedCase,
    AttestedResult,
    AttestedRun,
    AttestedWorkload,
    HarnessIdentity,
    ProblemIdentity,
    SourceIdentity,
)
from kernelbot.attestations.signatures import key_id, new_private_key, public_key, sign
from kernelbot.boards.service import no_submission
from kernelbot.domain.errors import Conflict
from kernelbot.domain.next_steps import Next
from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.domain.values import from_fields
from kernelbot.moderation.audit import service as audit
from kernelbot.protocol import Fault, RunResult, Verdict
from kernelbot.runs.model import Run
from kernelbot.runs.samples.rules import may_see_samples, sampled_workloads
from kernelbot.store.database import Database, WriteSession
from kernelbot.submissions import store as submissions
from kernelbot.submissions import views
from kernelbot.submissions.access import visible
from kernelbot.submissions.model import BareSubmission


@dataclass(frozen=True)
class _Reader:
    """Who gets the document, and whether the board's secret runs share a seed."""

    sees_secret: bool
    seed_is_shared: bool


class Attestations:
    """Whoever may see a submission may have its results signed. A document never has more than its
    reader was allowed to see, and of secret runs never the data: it is made to be passed on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def for_submission(self, viewer: User, submission_id: int) -> SignedDocument:
        """Signs the submission's finished runs, those of rejudges too, as they are now.

        Raises `NotFound`, `NotAllowed`, and `Conflict` while it is judged or if nothing was.
        """
        async with self._database.write() as session:
            result = await _result(session, viewer, submission_id)
            return _signed(result, await _private_key(session))

    async def keys(self) -> list[SigningKey]:
        """All public keys that there have been, the newest first. Public."""
        async with self._database.read() as session:
            return await attestations.keys(session)

    async def replace_key(self, actor: User) -> list[SigningKey]:
        """Sign by a new key from now on; what the old one has signed stays valid.

        Raises `NotAllowed`.
        """
        require_admin(actor)
        async with self._database.write() as session:
            await attestations.retire_key(session)
            made = await _private_key(session)
            await audit.record(session, actor, "signing_key.replace", f"key:{_id_of(made)}")
            return await attestations.keys(session)


async def _private_key(session: WriteSession) -> bytes:
    """The key that signs, made the first time."""
    found = await attestations.private_key(session)
    if found is None:
        made = new_private_key()
        await attestations.add_key(
            session, _id_of(made), public_key=public_key(made), private_key=made
        )
        found = await attestations.private_key(session)  # perhaps somebody else's was first
    assert found is not None, "it was made a moment ago at the latest"
    return found


def _id_of(private_key: bytes) -> str:
    return key_id(public_key(private_key))


def _signed(result: AttestedResult, private_key: bytes) -> SignedDocument:
    payload = result.model_dump_json().encode()
    public = public_key(private_key)
    signature = SignatureView(
        keyid=key_id(public),
        sig=_text(sign(private_key, PAYLOAD_TYPE, payload)),
        public_key=_text(public),
    )
    return SignedDocument(PAYLOAD_TYPE, _text(payload), (signature,))


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def _result(session: WriteSession, viewer: User, submission_id: int) -> AttestedResult:
    row = await visible(session, viewer, submission_id)
    found = await submissions.entries(session, [submission_id])
    own = [run for entry in found for run in entry.runs]
    shown = views.submission(row, own, ())
    again = await submissions.rejudged_runs(session, row)
    # Secret runs' too, since which harness judged them is no secret; see `_run`.
    results = await submissions.results(session, submission_id)
    versions = await attestations.problem_versions(session, submission_id)
    reader = _Reader(sees_secret=views.sees_secret(viewer), seed_is_shared=row.seed_is_shared)
    runs = _runs([*own, *again], results, versions, reader)
    if shown.state not in (SubmissionState.FINISHED, SubmissionState.HELD) or not runs:
        raise Conflict(
            f"Submission {submission_id} is {shown.state}: it has no result that could be signed.",
            next_step=Next.SHOW_SUBMISSION,
        )
    assert shown.verdict is not None, "a finished run has one"
    return from_fields(
        AttestedResult,
        row,
        submission_id=row.id,
        submitted_at=row.created_at,
        source=await _source(session, row),
        verdict=shown.verdict,
        score_s=shown.score_s,
        runs=runs,
        signed_at=datetime.now(UTC),
    )


async def _source(session: WriteSession, row: BareSubmission) -> SourceIdentity:
    code = await submissions.code(session, row.id)
    if code is None:
        raise no_submission(row.id)
    return SourceIdentity(file_name=row.file_name, sha256=hashlib.sha256(code.encode()).hexdigest())


def _runs(
    runs: list[Run],
    results: Mapping[int, RunResult],
    versions: Mapping[int, ProblemVersionName],
    reader: _Reader,
) -> list[AttestedRun]:
    """The runs that have finished with a result of the harness."""
    return [
        _run(run, results[run.id], versions[run.id], reader)
        for run in runs
        if run.state is RunState.FINISHED and run.id in results and run.id in versions
    ]


def _run(run: Run, result: RunResult, version: ProblemVersionName, reader: _Reader) -> AttestedRun:
    """With its samples if the reader may see them. The data of secret runs is in no document."""
    assert run.verdict is not None, "it has finished"
    accepted = run.verdict is Verdict.ACCEPTED
    verdict = views.shown_of_secret(run.verdict)[0] if _hides_verdict(run) else run.verdict
    shown = may_see_samples(
        run, sees_secret=reader.sees_secret, seed_is_shared=reader.seed_is_shared
    )
    return from_fields(
        AttestedRun,
        run,
        run_id=run.id,
        verdict=verdict,
        score_s=result.score_s if accepted else None,  # the run itself shows a later rejudge's
        score_ci95_s=result.score_ci95_s if accepted else None,
        problem=_problem(version),
        harness=HarnessIdentity(
            kind=result.harness,
            version=result.harness_version or None,
            sha256=result.harness_sha256 or None,
        ),
        system=replace(result.system, notes=()) if run.secret else result.system,
        sandbox=result.sandbox,
        cases=[] if run.secret else _cases(result),
        workloads=_workloads(run, result) if shown else [],
        samples_withheld=not shown,
    )


def _hides_verdict(run: Run) -> bool:
    """A way of failing would tell something of the data; see `views`."""
    return run.secret and run.fault is Fault.AUTHOR


def _problem(version: ProblemVersionName) -> ProblemIdentity:
    return ProblemIdentity(
        name=version.problem,
        version=version.id,
        content_sha256=version.content_sha256.hex(),
        judging_sha256=version.judging_sha256.hex(),
        ranking_by=version.ranking_by,
    )


def _cases(result: RunResult) -> list[AttestedCase]:
    return [from_fields(AttestedCase, case) for phase in result.phases for case in phase.cases]


def _workloads(run: Run, result: RunResult) -> list[AttestedWorkload]:
    return [
        from_fields(AttestedWorkload, load)
        for load in sampled_workloads(run, result, names_data=not run.secret)
    ]
