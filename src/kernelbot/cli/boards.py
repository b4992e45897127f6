"""Boards: `board create`, `board list`, `board show`; and the server's `devices`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from kernelbot.cli import organising, rejudges, upkeep
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url, read_deadline
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal
from kernelbot.domain.types import Visibility


def register(app: typer.Typer) -> None:
    """Add the commands."""
    boards = typer.Typer(no_args_is_help=True, help="List, show, open and change leaderboards.")
    boards.command(
        epilog=examples(
            "kernelbot board create --from examples/sort_np",
            "kernelbot board create --from examples/sort_np --name autumn --deadline 2027-01-31",
        )
    )(create)
    boards.command("list", epilog=examples("kernelbot board list"))(list_boards)
    boards.command(
        epilog=examples("kernelbot board show sort_np", "kernelbot board show sort_np -d CPU")
    )(show)
    upkeep.register_boards(boards)
    rejudges.register(boards)
    organising.register_boards(boards)
    app.add_typer(boards, name="board")
    app.command(epilog=examples("kernelbot devices"))(devices)


def create(
    folder: Annotated[Path, typer.Option("--from", help="A problem's folder.")],
    name: Annotated[
        str | None, typer.Option(help="Default: the problem's name.", show_default=False)
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option("--device", "-d", help="Once per device. Default: the problem's."),
    ] = None,
    deadline: Annotated[str, typer.Option(help="E.g. 2027-01-31 12:00, in UTC.")] = "none",
    closed: Annotated[bool, typer.Option("--closed", help="Only for those invited.")] = False,
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
    with connect(url) as client:
        board = client.create_board(
            loaded.definition,
            name=name or loaded.definition.spec.name,
            deadline=until,
            visibility=Visibility.CLOSED if closed else Visibility.PUBLIC,
            devices=device or None,
        )
    terminal.show(f"Board {board.name} is open on {', '.join(board.devices)}.")
    terminal.document({"board": board.name, **board.model_dump(mode="json")})


def list_boards(url: Url = None, as_json: Json = False) -> None:
    """List every board that one may see."""
    from kernelbot.render.table import table

    terminal = Terminal(as_json)
    with connect(url) as client:
        found = client.boards()
    rows = [
        (board.name, ", ".join(board.devices), board.ranking_by, _deadline(board.deadline))
        for board in found.boards
    ]
    none = "There is no board yet. Make one: kernelbot board create --from DIR"
    terminal.show(table(("board", "devices", "ranked by", "deadline"), rows) if rows else none)
    terminal.document(found)


def show(
    name: Annotated[str, typer.Argument(help="The board.")],
    device: Annotated[
        str | None,
        typer.Option("--device", "-d", help="Default: the board's first.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many rows.")] = 50,
    offset: Annotated[int, typer.Option(min=0, help="How many rows to skip.")] = 0,
    statement: Annotated[
        bool, typer.Option("--statement", help="The problem instead of the ranking.")
    ] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show a board's ranking, or with --statement its problem and starter files."""
    from kernelbot.render.standings import standings_table
    from kernelbot.render.text import printable

    terminal = Terminal(as_json)
    with connect(url) as client:
        if statement:
            problem = client.problem(name)
            terminal.show(printable(problem.description))
            for language, text in problem.templates.items():
                terminal.show(f"\nTo start from, {language}:\n\n{printable(text)}")
            terminal.document(problem)
            return
        board = client.board(name)
        page = client.standings(name, device, limit=limit, offset=offset)
    terminal.show(f"{board.name} on {page.device}: {_deadline(board.deadline)}\n")
    terminal.show(standings_table([row.to_standing() for row in page.standings]))
    if offset + len(page.standings) < page.total:
        terminal.show(f"\n{page.total} in all; go on with --offset {offset + limit}")
    terminal.document({**board.model_dump(mode="json"), **page.model_dump(mode="json")})


def devices(url: Url = None, as_json: Json = False) -> None:
    """List the server's devices and how busy they are."""
    from kernelbot.render.table import table

    terminal = Terminal(as_json)
    with connect(url) as client:
        found = client.devices()
    headers = ("device", "vendor", "waiting", "running", "state")
    rows = [
        (
            device.name,
            device.vendor,
            str(device.queued),
            str(device.running),
            "ready" if device.available else device.note or "not available",
        )
        for device in found.devices
    ]
    terminal.show(table(headers, rows, right=("waiting", "running")))
    terminal.document(found)


def _deadline(deadline: datetime | None) -> str:
    if deadline is None:
        return "no deadline"
    text = f"{deadline:%Y-%m-%d %H:%M} UTC"
    return f"open until {text}" if deadline > datetime.now(UTC) else f"closed since {text}"
