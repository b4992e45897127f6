"""What stands behind `%%kernelbot`: the options of `kernelbot run` and `kernelbot submit`."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from kernelbot.cli.examples import examples
from kernelbot.cli.options import MODES, Url
from kernelbot.domain.errors import UserError
from kernelbot.protocol import Mode
from kernelbot.submissions.directives import read_directives

MAGIC = "%%kernelbot"
_DEVICES = "Once per device, if it is a board's. Default: the first one here, a board's only one."


@dataclass(frozen=True)
class CellOptions:
    """How a cell is judged: here against `problem`, else by a server for `board`. `into`: the
    variable that gets the report; empty: none."""

    problem: Path | None
    board: str
    mode: Mode
    devices: tuple[str, ...] = ()
    baseline: bool = False
    into: str = ""
    url: str | None = None


def read_line(line: str, source: str) -> CellOptions | None:
    """The options of a line; None: it asked for help, which has been printed. A source that names
    its board needs no option for it. Raises `UserError`, and `InvalidSubmission` for directives
    that can't be read."""
    app = typer.Typer(
        add_completion=False, context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.command(
        epilog=examples(
            f"{MAGIC} examples/sort_np",
            f"{MAGIC} examples/sort_np --mode leaderboard --baseline",
            f"{MAGIC} --board sort_np --mode leaderboard",
        )
    )(_options)
    try:
        found = typer.main.get_command(app).main(
            shlex.split(line), prog_name=MAGIC, standalone_mode=False
        )
    except (TyperException, ValueError) as error:  # shlex: a quotation that doesn't end
        raise UserError(f"{error}", hint="`%kernelbot --help` explains.") from None
    return _checked(found, source) if isinstance(found, CellOptions) else None


def _options(
    problem: Annotated[
        Path | None,
        typer.Argument(help="A problem's folder: the cell is judged here.", show_default=False),
    ] = None,
    board: Annotated[
        str,
        typer.Option(
            "--board",
            "-b",
            help="A board: the cell is sent to its server. Default: the cell's directive.",
            show_default=False,
        ),
    ] = "",
    device: Annotated[
        list[str] | None, typer.Option("--device", "-d", metavar="<str>", help=_DEVICES)
    ] = None,
    mode: Annotated[
        Mode, typer.Option("--mode", "-m", metavar="<mode>", help=MODES)
    ] = Mode.BENCHMARK,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Time the problem's reference as well, and compare.")
    ] = False,
    into: Annotated[
        str, typer.Option("--into", metavar="<name>", help="The variable that gets the report.")
    ] = "",
    url: Url = None,
) -> CellOptions:
    """Judge this cell, and show a table and a plot of what came of it.

    Nothing is ranked unless you say --mode leaderboard.
    """
    return CellOptions(problem, board, mode, tuple(device or ()), baseline, into, url)


def _checked(found: CellOptions, source: str) -> CellOptions:
    if found.into and not found.into.isidentifier():
        raise UserError(f"{found.into!r} can't be a variable's name.")
    if found.problem is not None:
        if found.board:
            raise UserError(
                "A cell is judged against a folder or for a board, not both.",
                hint="Leave out one of them.",
            )
        if len(found.devices) > 1:
            raise UserError("Here a cell is judged on one device at a time.")
        return found
    if found.baseline:
        raise UserError("--baseline is for a problem's folder: a board has its standings.")
    board = found.board or read_directives(source).board
    if board is None:
        raise UserError(
            "It isn't said what the cell is to solve.",
            hint=f"Name a problem's folder, as in `{MAGIC} examples/sort_np`, or a board, "
            "as in `--board sort_np`.",
        )
    return CellOptions(None, board, found.mode, found.devices, into=found.into, url=found.url)
