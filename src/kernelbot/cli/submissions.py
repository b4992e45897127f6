"""Submissions: `submit`, and `submission list|show|wait|cancel`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernelbot.catalog.sources import read_source
from kernelbot.cli import artifacts, attestations, deletion, reviews, samples, sharing, sources
from kernelbot.cli.choosing import choose
from kernelbot.cli.completion import board_names, device_names, submission_numbers
from kernelbot.cli.errors import INTERRUPTED, exit_code_of
from kernelbot.cli.examples import examples
from kernelbot.cli.options import MODES, Json, Url
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal, columns, is_attended
from kernelbot.protocol import Mode
from kernelbot.submissions.directives import read_directives
from kernelbot.submissions.source import source_text

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient
    from kernelbot.submissions.model import SubmissionView

Id = Annotated[
    int,
    typer.Argument(min=1, help="The submission's number.", autocompletion=submission_numbers),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        epilog=examples(
            "kernelbot submit mine.py --board sort_np",
            "kernelbot submit mine.py --board sort_np --mode test --device CPU",
            "kernelbot submit mine.py --no-wait --json",
            "A file can name its board itself: #!POPCORN leaderboard sort_np",
            "Exit codes: 0 accepted; 1 refused; 2 bad usage or file; 3 our fault.",
        )
    )(submit)
    group = typer.Typer(
        no_args_is_help=True, help="List, show, watch, compare and cancel submissions."
    )
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
    app.add_typer(group, name="submission")


def submit(
    file: Annotated[Path, typer.Argument(help="The source file.")],
    board: Annotated[
        str | None,
        typer.Option(
            "--board",
            "-b",
            help="Default: the file's directive, or you are asked.",
            show_default=False,
            autocompletion=board_names,
        ),
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            "-d",
            metavar="<str>",
            help="Once per device. Default: the board's only one.",
            autocompletion=device_names,
        ),
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(
            "--mode",
            "-m",
            metavar="<mode>",
            help=f"{MODES} Default: leaderboard.",
            show_default=False,
        ),
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Don't wait for the verdict.")] = False,
    late: Annotated[bool, typer.Option("--late", help="Past the deadline, too; admins.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Send a file to a board and follow the judging.

    On a terminal you are asked for the board, if neither an option nor the file names one. Ctrl-C
    ends this command, not the judging.
    """
    terminal = Terminal(as_json)
    content = read_source(file)
    text = source_text(content)  # a file that the server would refuse needn't be sent
    with connect(url, terminal, board=board) as client:
        devices = tuple(device or ())
        if board is None and not as_json and is_attended() and read_directives(text).board is None:
            chosen = choose(client, terminal, devices, mode)
            board, devices, mode = chosen.board, chosen.devices, chosen.mode
            terminal.progress(f"To send it there unasked: {chosen.options()}")
        name = file.name.encode("utf-8", "replace").decode()
        sent = client.submit(
            name, content, board=board, devices=devices, mode=mode or Mode.LEADERBOARD, late=late
        )
        if no_wait:
            from kernelbot.cli.follow import how_to_follow

            terminal.show(f"Submission {sent.id} is {sent.state}. {how_to_follow(sent.id)}")
            terminal.document(sent)
            return
        _watch(client, sent, terminal)


def list_submissions(
    board: Annotated[
        str | None,
        typer.Option(
            "--board",
            "-b",
            help="Only to this one.",
            show_default=False,
            autocompletion=board_names,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    before: Annotated[
        int | None, typer.Option(min=1, help="Only those before this number.", show_default=False)
    ] = None,
    everyone: Annotated[
        bool, typer.Option("--all", help="Everybody's, on --board for its organisers.")
    ] = False,
    user: Annotated[
        str | None,
        typer.Option("--user", help="This person's; organisers of --board, else admins."),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List your own submissions, the newest first; organisers can list others'."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    terminal = Terminal(as_json)
    with connect(url, terminal, board=board) as client:
        found = client.submissions(
            board=board, user=user, everyone=everyone, limit=limit, before_id=before
        )
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
        begin = "You have submitted nothing yet. To submit: kernelbot submit FILE --board BOARD"
        terminal.show("There are none." if others else begin)
    else:
        rows = list(zip(*cells.values(), strict=True))
        right = ("number", "score", "place")
        terminal.show(table(list(cells), rows, right=right, columns=columns()))
    terminal.document(found)


def _rank_text(submission: "SubmissionView") -> str:
    """The submission's rank, or in a few words why it has none."""
    from kernelbot.render.standings import rank_text

    if submission.not_ranked is not None:
        return submission.not_ranked.reason.replace("_", " ")
    if submission.place is None:
        return ""
    return rank_text(submission.place, submission.place_is_shared)


def show(
    submission_id: Id,
    code: Annotated[bool, typer.Option("--code", help="The source instead of the report.")] = False,
    times: Annotated[
        bool, typer.Option("--timings", help="Where the seconds went instead of the report.")
    ] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show a submission: its runs, its report, its place."""
    terminal = Terminal(as_json)
    with connect(url, terminal) as client:
        found = client.submission(submission_id)
    if code:
        terminal.show_file(found.code or "")
    elif times:
        from kernelbot.render.timings import timings_text

        terminal.show(timings_text(found))
    else:
        from kernelbot.cli.outcome import outcome

        terminal.show(outcome(found, _page_url(client, found.id)))
    terminal.document(found)


def wait(submission_id: Id, url: Url = None, as_json: Json = False) -> None:
    """Follow a submission until it is judged; exit codes as of `submit`."""
    terminal = Terminal(as_json)
    with connect(url, terminal) as client:
        _watch(client, client.submission(submission_id), terminal)


def cancel(submission_id: Id, url: Url = None, as_json: Json = False) -> None:
    """Stop a submission that hasn't finished."""
    terminal = Terminal(as_json)
    with connect(url, terminal) as client:
        found = client.cancel(submission_id)
    terminal.show(f"Submission {found.id} is {found.state}.")
    terminal.document(found)


def _watch(client: "KernelbotClient", sent: "SubmissionView", terminal: Terminal) -> None:
    from kernelbot.cli.follow import follow, how_to_follow
    from kernelbot.cli.outcome import closing, outcome
    from kernelbot.client import Unreachable

    terminal.progress(closing(sent))
    try:
        done = follow(client, sent, terminal)
    except KeyboardInterrupt:
        terminal.progress(f"\nSubmission {sent.id} is judged anyway. {how_to_follow(sent.id)}")
        terminal.document(sent)
        raise typer.Exit(INTERRUPTED) from None
    except Unreachable as error:
        error.hint = (
            f"Submission {sent.id} is kept there, and judged when the server is back. "
            f"{how_to_follow(sent.id)}"
        )
        raise
    page_url = _page_url(client, done.id)
    if done.mode is Mode.PROFILE:  # text to read, all of it
        terminal.show(outcome(done, page_url))
    elif not terminal.as_json:
        _show_summary(done, page_url, terminal)
    terminal.document(done)
    faults = [run.fault for run in done.runs if run.fault is not None]
    raise typer.Exit(exit_code_of(done.verdict, faults[0] if faults else None))


def _show_summary(done: "SubmissionView", page_url: str, terminal: Terminal) -> None:
    """The answer, and how its score compares with others and with what the device can do, if the
    server says so: one of an earlier release doesn't."""
    from kernelbot.cli.score_comparison import comparison_lines, limit_lines
    from kernelbot.cli.summary import summary

    found = done.comparisons
    terminal.show(summary(done, page_url, [*comparison_lines(found), *limit_lines(found)]))


def _page_url(client: "KernelbotClient", submission_id: int) -> str:
    """Where a browser shows a submission."""
    return f"{client.url}/submission/{submission_id}"
