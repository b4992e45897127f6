"""`submit`, and following what was sent. The commands of `submission` are elsewhere: to load them
takes time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

from kernelbot.catalog.sources import read_source
from kernelbot.cli.choosing import choose
from kernelbot.cli.completion import board_names, device_names
from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.errors import INTERRUPTED, exit_code_of
from kernelbot.cli.examples import examples
from kernelbot.cli.options import MODES, Json, Url
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal, is_attended
from kernelbot.protocol import Mode
from kernelbot.submissions.directives import read_directives
from kernelbot.submissions.source import source_text

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient
    from kernelbot.submissions.model import SubmissionView


def register(app: Commands) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "kernelbot submit mine.py --board sort_np",
            "kernelbot submit mine.py --board sort_np --mode test --device CPU",
            "kernelbot submit mine.py --no-wait --json",
            "A file can name its board itself: #!POPCORN leaderboard sort_np",
            "Exit codes: 0 accepted; 1 refused; 2 bad usage or file; 3 our fault.",
        )
    )(submit)


def submit(
    file: Annotated[Path, Argument(help="The source file.")],
    board: Annotated[
        str | None,
        Option(
            "--board",
            "-b",
            help="Default: the file's directive, or you are asked.",
            show_default=False,
            autocompletion=board_names,
        ),
    ] = None,
    device: Annotated[
        list[str] | None,
        Option(
            "--device",
            "-d",
            metavar="<str>",
            help="Once per device. Default: the board's only one.",
            autocompletion=device_names,
        ),
    ] = None,
    mode: Annotated[
        Mode | None,
        Option(
            "--mode",
            "-m",
            metavar="<mode>",
            help=f"{MODES} Default: leaderboard.",
            show_default=False,
        ),
    ] = None,
    no_wait: Annotated[bool, Option("--no-wait", help="Don't wait for the verdict.")] = False,
    late: Annotated[bool, Option("--late", help="Past the deadline, too; admins.")] = False,
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

            terminal.answer(f"Submission {sent.id} is {sent.state}. {how_to_follow(sent.id)}", sent)
            return
        watch(client, sent, terminal)


def watch(client: KernelbotClient, sent: SubmissionView, terminal: Terminal) -> NoReturn:
    """Follow a submission until it is judged, show what came of it, and exit with its code."""
    from kernelbot.cli.follow import follow, how_to_follow
    from kernelbot.cli.outcome import closing, outcome
    from kernelbot.client import Unreachable

    terminal.progress(closing(sent))
    try:
        done = follow(client, sent, terminal)
    except KeyboardInterrupt:
        terminal.progress(f"\nSubmission {sent.id} is judged anyway. {how_to_follow(sent.id)}")
        terminal.document(sent)
        raise Exit(INTERRUPTED) from None
    except Unreachable as error:
        error.hint = (
            f"Submission {sent.id} is kept there, and judged when the server is back. "
            f"{how_to_follow(sent.id)}"
        )
        raise
    address = page_url(client, done.id)
    if done.mode is Mode.PROFILE:  # text to read, all of it
        terminal.show(outcome(done, address))
    elif not terminal.as_json:
        _show_summary(done, address, terminal)
    terminal.document(done)
    faults = [run.fault for run in done.runs if run.fault is not None]
    raise Exit(exit_code_of(done.verdict, faults[0] if faults else None))


def _show_summary(done: SubmissionView, address: str, terminal: Terminal) -> None:
    """The answer, and how its score compares with others and with what the device can do, if the
    server says so: one of an earlier release doesn't."""
    from kernelbot.cli.score_comparison import comparison_lines, limit_lines
    from kernelbot.cli.summary import summary

    found = done.comparisons
    terminal.show(summary(done, address, [*comparison_lines(found), *limit_lines(found)]))


def page_url(client: KernelbotClient, submission_id: int) -> str:
    """Where a browser shows a submission."""
    from kernelbot.client.endpoint import url_for_others

    return f"{url_for_others(client.url)}/submission/{submission_id}"
