"""Organisers' decisions: `submission held|release|refuse`."""

from __future__ import annotations

from typing import Annotated

from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import columns

Id = Annotated[int, Argument(min=1, help="The submission's number.")]
Reason = Annotated[str, Option("--reason", "-r", help="Why; kept in the audit log.")]


def register(group: Commands) -> None:
    """Add the commands to `submission`."""
    group.command(epilog=examples("kernelbot submission held --board sort_np"))(held)
    group.command(epilog=examples('kernelbot submission release 12 --reason "I read it: honest"'))(
        release
    )
    group.command(epilog=examples('kernelbot submission refuse 12 --reason "caches its output"'))(
        refuse
    )


def held(
    board: Annotated[
        str | None, Option("--board", "-b", help="Only of this one.", show_default=False)
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List the submissions that wait for a decision, with the evidence. For organisers."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    with connected(url, as_json) as (terminal, client):
        found = client.held(board)
    rows = [
        (
            str(one.id),
            one.board,
            one_line(one.author),
            seconds_text(one.score_s) if one.score_s else "",
            "; ".join(f"{item.rule}: {one_line(item.detail)}" for item in one.evidence),
        )
        for one in found.submissions
    ]
    headers = ("number", "board", "author", "score", "noticed")
    terminal.show(
        table(headers, rows, right=("number", "score"), columns=columns())
        if rows
        else "Nothing is held."
    )
    terminal.document(found)


def release(submission_id: Id, reason: Reason, url: Url = None, as_json: Json = False) -> None:
    """Let a held or refused submission be ranked. For organisers."""
    with connected(url, as_json) as (terminal, client):
        found = client.release(submission_id, reason)
    place = f" at place {found.place}" if found.place else ""
    terminal.answer(f"Submission {found.id} may be ranked now{place}.", found)


def refuse(submission_id: Id, reason: Reason, url: Url = None, as_json: Json = False) -> None:
    """Keep a submission from the ranking; its author reads the reason. For organisers."""
    with connected(url, as_json) as (terminal, client):
        found = client.refuse(submission_id, reason)
    terminal.answer(f"Submission {found.id} is refused; its author can read why.", found)
