"""`problem import`: problem folders from another suite's files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from kernelbot.cli.declaring import Argument, Exit, Option
from kernelbot.cli.errors import ACCEPTED, REFUSED
from kernelbot.cli.options import Json
from kernelbot.cli.terminal import Terminal


def _suites(incomplete: str) -> list[str]:
    """The installed ones. Loaded when asked: other commands need no importer."""
    from kernelbot.catalog.importing.suites import SUITES

    return [name for name in SUITES.names() if name.startswith(incomplete)]


def import_suite(
    suite: Annotated[str, Argument(help="Whose format it is.", autocompletion=_suites)],
    path: Annotated[Path, Argument(help="One problem's file, or a folder of them.")],
    into: Annotated[
        Path | None,
        Option(help="Where the problem folders go. Default: here.", show_default=False),
    ] = None,
    largest: Annotated[
        int | None,
        Option(
            min=1,
            help="Make sizes above this as small as this, for a machine that can't judge more.",
            show_default=False,
        ),
    ] = None,
    device: Annotated[
        list[str] | None,
        Option("--device", "-d", help="A device of boards made from them. May be repeated."),
    ] = None,
    competition: Annotated[
        str | None,
        Option(
            help="Also write a competition file of this name, for `kernelbot sync`.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make problem folders from another suite's files. Nothing of them is executed: they are read,
    and run in the sandbox once they are judged."""
    from kernelbot.catalog.importing.folders import import_problems
    from kernelbot.render.text import counted

    terminal = Terminal(as_json)
    target = into or Path()
    imported = import_problems(
        suite, path, target, largest=largest, devices=device or (), competition=competition
    )
    for folder in imported.folders:
        terminal.show(f"wrote {folder}")
    for finding in imported.refused:
        terminal.show(f"not imported: {finding}")
    written, others = len(imported.folders), len({one.file for one in imported.refused})
    terminal.show(f"\n{counted(written, 'problem')} imported, {counted(others, 'file')} not.")
    if imported.folders:
        terminal.show(f"Try one: kernelbot problem check {imported.folders[0]}")
    if imported.folders and competition:
        terminal.show(f"Open a board for each: kernelbot sync {target}")
    terminal.document(
        {
            "folders": [str(folder) for folder in imported.folders],
            "refused": [
                {"file": one.file, "key": one.key, "line": one.line, "message": one.message}
                for one in imported.refused
            ],
        }
    )
    raise Exit(REFUSED if imported.refused else ACCEPTED)
