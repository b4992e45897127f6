"""Boards: `board create`, `board list`, `board show`; and the server's `devices`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.boards.model import Visibility
from kernelbot.boards.rules import has_ended
from kernelbot.cli import deletion, duels, organising, rejudges
from kernelbot.cli.declaring import Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import BoardName, Force, Json, Url, read_deadline
from kernelbot.cli.session import connect, connected
from kernelbot.cli.terminal import Terminal, as_document, columns
from kernelbot.cli.writing import write_file
from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.boards.model import ProblemSummary
    from kernelbot.runs.devices.model import LauncherHealth


def register(app: Commands) -> None:
    """Add the commands."""
    boards = Commands("List, show, open and change leaderboards.")
    boards.command(
        epilog=examples(
            "kernelbot board create --from examples/sort_np",
            "kernelbot board create --from examples/sort_np --name autumn --deadline 2027-01-31",
        )
    )(create)
    boards.command("list", epilog=examples("kernelbot board list"))(list_boards)
    boards.command(
        epilog=examples(
            "kernelbot board show sort_np",
            "kernelbot board show sort_np -d CPU",
            "kernelbot board show sort_np --csv > sort_np.csv",
        )
    )(show)
    boards.command(
        epilog=examples(
            "kernelbot board starter sort_np", "kernelbot board starter sort_np --to mine.py"
        )
    )(starter)
    deletion.register_boards(boards)
    duels.register(boards)
    rejudges.register(boards)
    organising.register_boards(boards)
    app.add(boards, "board")
    app.command(epilog=examples("kernelbot devices"))(devices)


def create(
    folder: Annotated[Path, Option("--from", help="A problem's folder.")],
    name: Annotated[
        str | None, Option(help="Default: the problem's name.", show_default=False)
    ] = None,
    device: Annotated[
        list[str] | None,
        Option("--device", "-d", help="Once per device. Default: the problem's."),
    ] = None,
    deadline: Annotated[str, Option(help="E.g. 2027-01-31 12:00, in UTC.")] = "none",
    closed: Annotated[bool, Option("--closed", help="Only for those invited.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Open a board from a problem's folder. For creators and admins."""
    from kernelbot.catalog.problem import load_problem

    terminal = Terminal(as_json)
    until = read_deadline(deadline)
    loaded = load_problem(folder)
    for warning in loaded.warnings:
        terminal.progress(str(warning))
    with connect(url, terminal) as client:
        board = client.create_board(
            loaded.definition,
            name=name or loaded.definition.spec.name,
            deadline=until,
            visibility=Visibility.CLOSED if closed else Visibility.PUBLIC,
            devices=device or None,
        )
    terminal.show(f"Board {board.name} is open on {', '.join(board.devices)}.")
    terminal.document({"board": board.name, **as_document(board)})


def list_boards(url: Url = None, as_json: Json = False) -> None:
    """List every board that you may see."""
    from kernelbot.render.table import table

    with connected(url, as_json) as (terminal, client):
        found = client.boards()
    rows = [
        (board.name, ", ".join(board.devices), board.ranking_by, _deadline(board.deadline))
        for board in found.boards
    ]
    none = "There is no board yet. Make one: kernelbot board create --from DIR"
    terminal.show(
        table(("board", "devices", "ranked by", "deadline"), rows, columns=columns())
        if rows
        else none
    )
    terminal.document(found)


def show(
    name: BoardName,
    device: Annotated[
        str | None,
        Option("--device", "-d", help="Default: the board's first.", show_default=False),
    ] = None,
    limit: Annotated[int, Option(min=1, max=100, help="How many rows.")] = 50,
    offset: Annotated[int, Option(min=0, help="How many rows to skip.")] = 0,
    statement: Annotated[
        bool, Option("--statement", help="The problem instead of the ranking.")
    ] = False,
    as_csv: Annotated[
        bool, Option("--csv", help="The whole ranking on stdout, one line per author.")
    ] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show a board's ranking, or with --statement its problem and starter files."""
    from kernelbot.render.standings import SHARED_RANK, standings_table
    from kernelbot.render.text import printable

    with connected(url, as_json, board=name) as (terminal, client):
        if statement:
            problem = client.problem(name)
            terminal.show(printable(problem.description))
            for language, text in problem.templates.items():
                terminal.show(f"\nTo start from, {language}:\n\n{printable(text)}")
            terminal.document(problem)
            return
        if as_csv and not as_json:
            sys.stdout.write(client.standings_csv(name, device, offset=offset))
            return
        board = client.board(name)
        page = client.standings(name, device, limit=limit, offset=offset)
        first = client.standings(name, device, limit=1) if offset else page
    terminal.show(f"{board.name} on {page.device}: {_deadline(board.deadline)}")
    _show_about(board.about, terminal)
    terminal.show("")
    leader_s = first.standings[0].score_s if first.standings else None
    terminal.show(standings_table(page.standings, columns(), leader_s=leader_s))
    if any(row.shared for row in page.standings):
        terminal.show(f"\n{SHARED_RANK}")
    if offset + len(page.standings) < page.total:
        terminal.show(f"\n{page.total} in all; more with --offset {offset + limit}")
    if count := board.outdated_scores:
        scores = "1 score is" if count == 1 else f"{count} scores are"
        terminal.show(
            f"\n{scores} of an earlier version of the problem and not ranked. To measure the best"
            f" again: kernelbot board rejudge {board.name}"
        )
    if board.try_on_cpu:
        terminal.show("\nTests are taken on a processor as well, as by --mode test --device CPU")
    if board.recurring_data:
        terminal.show(f"\nNothing is ranked here just now: {board.recurring_data}")
    terminal.document({**as_document(board), **as_document(page)})


def _show_about(about: ProblemSummary | None, terminal: Terminal) -> None:
    """What the problem is about, on a line or two."""
    from kernelbot.render.text import one_line

    if about is None:
        return
    if about.sentence:
        terminal.show(one_line(about.sentence))
    terminal.show(f"({one_line(about.facts)})")


def starter(
    name: BoardName,
    to: Annotated[
        Path | None,
        Option("--to", help="The file to write. Default: the problem's name for it."),
    ] = None,
    language: Annotated[
        str | None,
        Option("--language", help="Which, if there are several.", show_default=False),
    ] = None,
    force: Force = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Write a board's starter file, to make it faster."""
    with connected(url, as_json, board=name) as (terminal, client):
        problem = client.problem(name)
    text = template_of(problem.board, problem.templates, language)
    file = to or Path(Path(problem.submission_name).name)
    write_file(file, text, force=force)
    attempt = shlex.join(["kernelbot", "submit", str(file), "--board", name, "--mode", "test"])
    terminal.answer(f"Wrote {file}. Try it: {attempt}", {"board": problem.board, "file": str(file)})


def template_of(name: str, templates: Mapping[str, str], language: str | None) -> str:
    """A starter file of the board or problem of this name. Raises `UserError` if there is none in
    this language, or several and none is named."""
    found = {word.lower(): text for word, text in templates.items()}
    if not found:
        raise UserError(
            f"{name} has no starter file.",
            hint=f"Read the problem: kernelbot board show {name} --statement",
        )
    if language is None and len(found) == 1:
        return next(iter(found.values()))
    if language is None or language.lower() not in found:
        raise UserError(
            f"{name} has starter files in: {', '.join(templates)}.",
            hint="Choose one with --language.",
        )
    return found[language.lower()]


def devices(url: Url = None, as_json: Json = False) -> None:
    """List the server's devices and how busy they are."""
    from kernelbot.render.table import table

    with connected(url, as_json) as (terminal, client):
        found = client.devices()
    headers = ("device", "vendor", "launcher", "waiting", "running", "state", "seen last")
    rows = [
        (
            device.name,
            device.vendor,
            ", ".join(_launcher(each, device.available) for each in device.launchers),
            str(device.queued),
            str(device.running),
            "ready" if device.available else device.note or "not available",
            device.hardware or "",
        )
        for device in found.devices
    ]
    terminal.answer(table(headers, rows, right=("waiting", "running"), columns=columns()), found)


def _launcher(health: LauncherHealth, device_available: bool) -> str:
    """The launcher's name, and why it is passed over if another is used instead."""
    passed_over = device_available and not health.available
    return f"{health.launcher} ({health.note})" if passed_over else health.launcher


def _deadline(deadline: datetime | None) -> str:
    if deadline is None:
        return "no deadline"
    text = f"{deadline:%Y-%m-%d %H:%M} UTC"
    return f"ended {text}" if has_ended(deadline, datetime.now(UTC)) else f"open until {text}"
