"""`submission list|show|wait|cancel`, and what other modules add to `submission`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from kernelbot.cli import artifacts, attestations, deletion, reviews, samples, sharing, sources
from kernelbot.cli.completion import board_names, submission_numbers
from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.submitting import page_url, watch
from kernelbot.cli.terminal import columns

if TYPE_CHECKING:
    from kernelbot.submissions.model import SubmissionView

Id = Annotated[
    int, Argument(min=1, help="The submission's number.", autocompletion=submission_numbers)
]


def register(app: Commands) -> None:
    """Add the commands."""
    group = Commands("List, show, watch, compare and cancel submissions.")
    group.command(
        "list",
        epilog=examples(
            "kernelbot submission list --board sort_np",
            "kernelbot submission list --board sort_np --all",
            "kernelbot submission list --user ada",
        ),
    )(list_submissions)
    group.command(
        epilog=examples(
            "kernelbot submission show 12 --code", "kernelbot submission show 12 --timings"
        )
    )(show)
    group.command(epilog=examples("kernelbot submission wait 12"))(wait)
    group.command(epilog=examples("kernelbot submission cancel 12"))(cancel)
    sources.register(group)
    samples.register(group)
    artifacts.register(group)
    attestations.register_submissions(group)
    reviews.register(group)
    sharing.register(group)
    deletion.register_submissions(group)
    app.add(group, "submission")


def list_submissions(
    board: Annotated[
        str | None,
        Option(
            "--board",
            "-b",
            help="Only to this one.",
            show_default=False,
            autocompletion=board_names,
        ),
    ] = None,
    limit: Annotated[int, Option(min=1, max=100, help="How many.")] = 20,
    before: Annotated[
        int | None, Option(min=1, help="Only those before this number.", show_default=False)
    ] = None,
    everyone: Annotated[
        bool, Option("--all", help="Everybody's, on --board for its organisers.")
    ] = False,
    user: Annotated[
        str | None,
        Option("--user", help="This person's; organisers of --board, else admins."),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List your own submissions, the newest first; organisers can list others'."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    with connected(url, as_json, board=board) as (terminal, client):
        found = client.submissions(
            board=board, user=user, everyone=everyone, limit=limit, before_id=before
        )
        if board is not None and not found.submissions:
            client.board(board)  # refused if there is none of that name
    others = everyone or user is not None
    cells = {
        "number": [str(one.id) for one in found.submissions],
        "author": [one_line(one.author) for one in found.submissions],
        "board": [one.board for one in found.submissions],
        "file": [one_line(one.file_name) for one in found.submissions],
        "mode": [one.mode for one in found.submissions],
        "sent (UTC)": [f"{one.created_at:%Y-%m-%d %H:%M}" for one in found.submissions],
        "state": [one.verdict.words if one.verdict else one.state for one in found.submissions],
        "score": [seconds_text(one.score_s) if one.score_s else "" for one in found.submissions],
        "place": [_rank_text(one) for one in found.submissions],
    }
    if not others:
        del cells["author"]
    if board is not None:
        del cells["board"]
    if not found.submissions:
        to = f" to {board}" if board else ""
        begin = f"kernelbot submit FILE --board {board or 'BOARD'}"
        nothing = f"You have submitted nothing{to} yet. To submit: {begin}"
        terminal.show("There are none." if others or before else nothing)
    else:
        rows = list(zip(*cells.values(), strict=True))
        right = ("number", "score", "place")
        terminal.show(table(list(cells), rows, right=right, columns=columns()))
    terminal.document(found)


def _rank_text(submission: SubmissionView) -> str:
    """The submission's rank, or in a few words why it has none."""
    from kernelbot.render.standings import rank_text

    if submission.not_ranked is not None:
        return submission.not_ranked.reason.replace("_", " ")
    if submission.place is None:
        return ""
    return rank_text(submission.place, submission.place_is_shared)


def show(
    submission_id: Id,
    code: Annotated[bool, Option("--code", help="The source instead of the report.")] = False,
    times: Annotated[
        bool, Option("--timings", help="Where the seconds went instead of the report.")
    ] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show a submission: its runs, its report, its place."""
    with connected(url, as_json) as (terminal, client):
        found = client.submission(submission_id)
    if code:
        terminal.show_file(found.code or "")
    elif times:
        from kernelbot.render.timings import timings_text

        terminal.show(timings_text(found))
    else:
        from kernelbot.cli.outcome import outcome

        terminal.show(outcome(found, page_url(client, found.id)))
    terminal.document(found)


def wait(submission_id: Id, url: Url = None, as_json: Json = False) -> None:
    """Follow a submission until it is judged; exit codes as of `submit`."""
    with connected(url, as_json) as (terminal, client):
        watch(client, client.submission(submission_id), terminal)


def cancel(submission_id: Id, url: Url = None, as_json: Json = False) -> None:
    """Stop a submission that hasn't finished."""
    with connected(url, as_json) as (terminal, client):
        found = client.cancel(submission_id)
    terminal.answer(f"Submission {found.id} is {found.state}.", found)
