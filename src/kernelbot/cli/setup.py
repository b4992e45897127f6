"""`setup`: a folder to work in, for a person or an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.boards.limits.model import LimitCategory
from kernelbot.cli.boards import template_of
from kernelbot.cli.completion import board_names
from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal
from kernelbot.cli.writing import write_new_files
from kernelbot.domain.errors import Conflict, UserError
from kernelbot.protocol.late import dataclass
from kernelbot.render.guide import GUIDE, STATEMENT, FolderGuide, for_board, for_folder

if TYPE_CHECKING:
    from kernelbot.boards.limits.model import RateLimit
    from kernelbot.boards.model import NamedBoard

_KINDS = {LimitCategory.LEADERBOARD: "Ranked", LimitCategory.TEST: "Other"}


def register(app: Commands) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "kernelbot setup --board sort_np",
            "kernelbot setup sorting --board sort_np --language Python",
            "kernelbot setup sorting --from examples/sort_np",
        )
    )(setup)


@dataclass(frozen=True)
class _Contents:
    """What is written. `starter` None: the problem has none."""

    name: str
    file: str
    starter: str | None
    statement: str
    guide: FolderGuide


def setup(
    folder: Annotated[
        Path | None,
        Argument(help="Where. Default: the board's or the problem's name.", show_default=False),
    ] = None,
    board: Annotated[
        str | None,
        Option(
            "--board",
            "-b",
            help="The board to compete on.",
            show_default=False,
            autocompletion=board_names,
        ),
    ] = None,
    problem: Annotated[
        Path | None,
        Option("--from", help="Instead of a board: a problem's folder here.", show_default=False),
    ] = None,
    language: Annotated[
        str | None,
        Option("--language", help="Of the starter, if there are several.", show_default=False),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Write a folder with the starter, the problem, and a guide for people and agents.

    The guide, AGENTS.md, says the commands, the limits and the rules. Files that are there stay:
    if one of the three is, nothing is written.
    """
    terminal = Terminal(as_json)
    if (board is None) == (problem is None):
        raise UserError("Name a board with --board, or a problem's folder with --from.")
    if board is not None:
        found = _of_board(board, language, url, terminal)
    else:
        assert problem is not None
        found = _of_folder(problem, language)
    target = folder or Path(folder_of(found.name))
    files = _write(target, found)
    terminal.show("\n".join(f"wrote {path}" for path in files))
    terminal.show(f"\nBegin with {target / GUIDE}. In that folder: {found.guide.commands[0][0]}")
    terminal.document({"folder": str(target), "files": [str(path) for path in files]})


def folder_of(name: str) -> str:
    """The folder of a board or problem of that name, which is whatever a server says. Raises
    `UserError` if no folder can be called so."""
    last = Path(name).name
    if last in ("", "..") or last.startswith("."):
        raise UserError(
            f"No folder is called {name!r} here.", hint="Name one: kernelbot setup FOLDER"
        )
    return last


def _of_board(name: str, language: str | None, url: str | None, terminal: Terminal) -> _Contents:
    with connect(url, terminal, board=name) as client:
        statement = client.problem(name)
        board = client.board(name)
        limits = client.limits(name).limits
        server = client.url
    file = Path(statement.submission_name).name
    starter = template_of(name, statement.templates, language) if statement.templates else None
    guide = for_board(board.name, server, file, board.devices, _limits(board, limits))
    return _Contents(board.name, file, starter, statement.description, guide)


def _limits(board: NamedBoard, limits: list[RateLimit]) -> tuple[str, ...]:
    until = f"{board.deadline:%Y-%m-%d %H:%M} UTC" if board.deadline else ""
    return (
        f"Submissions are taken until {until}." if until else "There is no deadline.",
        *(f"{_KINDS[one.category]} submissions: {one.max_per_hour} an hour." for one in limits),
        "Tests are taken on a processor as well: `--mode test --device CPU`."
        if board.try_on_cpu
        else "",
    )


def _of_folder(problem: Path, language: str | None) -> _Contents:
    from kernelbot.catalog.problem import load_problem

    definition = load_problem(problem).definition
    spec = definition.spec
    templates = definition.templates
    starter = template_of(spec.name, templates, language) if templates else None
    guide = for_folder(spec.name, problem.absolute(), spec.submission_name, definition.devices)
    return _Contents(spec.name, spec.submission_name, starter, definition.description, guide)


def _write(folder: Path, found: _Contents) -> list[Path]:
    """Raises `Conflict` if one of them is there, and `UserError` if one can't be written."""
    texts = {GUIDE: found.guide.text(), STATEMENT: _ended(found.statement)}
    if found.starter is not None:
        texts = {found.file: found.starter} | texts
    if found.file in ("", GUIDE, STATEMENT) or found.file.startswith("."):
        raise UserError(f"A submission can't be called {found.file!r} here.")
    files = {folder / name: text for name, text in texts.items()}
    there = [str(path) for path in files if path.exists() or path.is_symlink()]
    if there:
        raise Conflict(
            f"{' and '.join(there)} already there: nothing was written.",
            hint="Name another folder.",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder} can't be written: {error.strerror}.") from None
    write_new_files(files)
    return list(files)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
