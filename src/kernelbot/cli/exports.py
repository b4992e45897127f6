"""Submissions as a file or a dataset: `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Force, Json, Url
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal
from kernelbot.domain.errors import Conflict, UserError
from kernelbot.platform.exports.model import format_of


def register(app: Commands) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "kernelbot export autumn.parquet --board autumn",
            "kernelbot export autumn.csv --board autumn",
            "kernelbot export autumn.parquet --board autumn --hub --public",
        )
    )(export)


def export(
    file: Annotated[Path, Argument(help="Ends in .parquet or .csv; with --hub only its name.")],
    board: Annotated[
        list[str] | None, Option("--board", "-b", help="Once per board. Default: all.")
    ] = None,
    hub: Annotated[
        bool, Option("--hub", help="To the server's dataset instead of this disk.")
    ] = False,
    public: Annotated[
        bool, Option("--public", help="With --hub, once every board has ended.")
    ] = False,
    force: Force = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Export submissions with their code as Parquet, or their runs as CSV, under pseudonyms."""
    terminal = Terminal(as_json)
    if public and not hub:
        raise UserError("--public only works with --hub.", hint="Leave it out, or add --hub.")
    if not hub:
        format_of(file.name)
    if not hub and file.exists() and not force:
        raise Conflict(f"{file} already exists.", hint="Name another file, or use --force.")
    with connect(url, terminal) as client:
        if hub:
            done = client.organise.export_to_hub(board or (), file.name, private=not public)
            from kernelbot.render.text import counted

            made = counted(done.submissions, "submission")
            terminal.answer(f"{made} of {counted(len(done.boards), 'board')}: {done.where}", done)
            return
        size = client.organise.export(board or (), file)
    terminal.answer(f"{file}: {size:,} bytes.", {"file": str(file), "bytes": size})
