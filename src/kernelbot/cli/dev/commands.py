"""`kernelbot dev`: judge a file at every save, and what was judged."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.errors import INTERRUPTED, OURS, USAGE, exit_code_of
from kernelbot.cli.examples import examples
from kernelbot.cli.extras import require_extra
from kernelbot.cli.options import DeviceOption, Json
from kernelbot.cli.terminal import Terminal
from kernelbot.protocol import Fault

if TYPE_CHECKING:
    from kernelbot.saves.model import Save
    from kernelbot.server.dev.session import Display
    from kernelbot.server.dev.versions import LogEntry, Versions

_PRESENT = "the file as it is now"
FileArgument = Annotated[Path, Argument(help="The file that is or was watched.")]
VersionArgument = Annotated[
    str, Argument(help="Its number in `kernelbot dev log`, or the beginning of its hash.")
]


def register(app: Commands) -> None:
    """Add the commands."""
    dev = Commands("Judge a file at every save: kernelbot dev PROBLEM_DIR FILE.", default="watch")
    dev.command(
        epilog=examples(
            "kernelbot dev examples/sort_np mine.py",
            "kernelbot dev examples/vectoradd_triton mine.py --preflight H100",
            "kernelbot dev examples/sort_np mine.py --json | jq .diagnostics",
            "kernelbot dev examples/sort_np mine.py --once --lines",
            "Exit codes with --once: 0 accepted; 1 refused; 2 bad usage, problem or file; 3 our "
            "fault; 130 Ctrl-C.",
        )
    )(watch)
    dev.command(epilog=examples("kernelbot dev log mine.py"))(log)
    dev.command(epilog=examples("kernelbot dev show mine.py 3 > third.py"))(show)
    dev.command(epilog=examples("kernelbot dev diff mine.py 3", "kernelbot dev diff mine.py 3 7"))(
        diff
    )
    dev.command(epilog=examples("kernelbot dev restore mine.py 3"))(restore)
    app.add(dev, "dev")


def watch(
    problem: Annotated[Path, Argument(help="A problem's folder: it holds task.yml.")],
    file: Annotated[Path, Argument(help="The file to judge at every save.")],
    device: DeviceOption = None,
    preflight: Annotated[
        list[str] | None,
        Option(
            help="Compile it for this GPU at each save, such as H100; may be given several times.",
            show_default=False,
        ),
    ] = None,
    once: Annotated[bool, Option("--once", help="Judge the file as it is, and end.")] = False,
    lines: Annotated[
        bool,
        Option("--lines", help="Print lines on a terminal, too, as an editor's task reads them."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Judge a file whenever it is saved: the tests, then the times, beside the best and the last.

    Saving again stops what is being judged. Ctrl-C ends. With --json, one line of JSON per save.
    Outside of a terminal errors are lines that editors read: FILE:LINE:COLUMN: error: MESSAGE.
    """
    require_extra("judge")
    from kernelbot.preflight.gpus import find_gpu
    from kernelbot.server.dev.start import watch as start

    gpus = tuple(dict.fromkeys(find_gpu(name) for name in preflight or ()))
    with _display(problem, file, as_json=as_json, lines=lines) as display:
        last = start(problem, file, device, display, gpus, once=once)
    if once:
        raise Exit(_exit_code(last))


@contextmanager
def _display(problem: Path, file: Path, *, as_json: bool, lines: bool) -> Iterator[Display]:
    from kernelbot.cli.dev.displays import Documents, Lines, Screen

    if as_json:
        yield Documents()
    elif sys.stdout.isatty() and not lines:
        with Screen(problem, file) as screen:
            yield screen
    else:
        yield Lines(Terminal(as_json))


def _exit_code(last: Save | None) -> int:
    """None, or a save that was stopped by nobody's fault: Ctrl-C came first."""
    if last is None:
        return INTERRUPTED
    if last.result is None:
        codes = {None: INTERRUPTED, Fault.AUTHOR: USAGE}
        return codes.get(last.fault, OURS)
    failure = last.result.failure
    return exit_code_of(last.result.verdict, failure.fault if failure else None)


def log(file: FileArgument, as_json: Json = False) -> None:
    """The versions of a file that were judged, the oldest first."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line
    from kernelbot.render.units import seconds_text

    terminal = Terminal(as_json)
    entries = _versions(file).entries()
    rows = [
        (
            str(entry.number),
            entry.at,
            entry.sha256[:12],
            entry.verdict.words if entry.verdict else one_line(entry.note),
            "" if entry.score_s is None else seconds_text(entry.score_s),
        )
        for entry in entries
    ]
    headers = ("version", "when", "hash", "how it ended", "score")
    none = f"No version of {file} was judged here."
    terminal.show(table(headers, rows, right=("version", "score")) if rows else none)
    terminal.document({"versions": [_document(entry) for entry in entries]})


def show(file: FileArgument, version: VersionArgument, as_json: Json = False) -> None:
    """A version's text."""
    terminal = Terminal(as_json)
    versions = _versions(file)
    entry = versions.find(version)
    text = versions.content(entry).decode("utf-8", "replace")
    terminal.show_file(text)
    terminal.document({**_document(entry), "text": text})


def diff(
    file: FileArgument,
    version: VersionArgument,
    other: Annotated[str | None, Argument(help=f"Another version. Default: {_PRESENT}.")] = None,
    as_json: Json = False,
) -> None:
    """What differs between a version and another one, or the file as it is now."""
    from kernelbot.drawing.differences import between

    terminal = Terminal(as_json)
    versions = _versions(file)
    old, old_name = _text(versions, version)
    new, new_name = _text(versions, other) if other is not None else _present(file)
    found = "\n".join(between(old, new, old_name, new_name))
    terminal.show(found or "They are the same.")
    terminal.document({"from": old_name, "to": new_name, "diff": found})


def restore(file: FileArgument, version: VersionArgument, as_json: Json = False) -> None:
    """Write a version into the file again. What is there now is kept as a version first."""
    terminal = Terminal(as_json)
    versions = _versions(file)
    entry = versions.find(version)
    kept = versions.restore(entry)
    terminal.show(f"{file} is version {entry.number} again.")
    if kept is not None:
        terminal.show(f"What was there is version {kept.number}.")
    terminal.document({"restored": _document(entry), "kept": kept and _document(kept)})


def _versions(file: Path) -> Versions:
    require_extra("judge")
    from kernelbot.server.dev.versions import Versions

    return Versions(file)


def _text(versions: Versions, name: str) -> tuple[str, str]:
    entry = versions.find(name)
    content = versions.content(entry).decode("utf-8", "replace")
    return content, f"version {entry.number}"


def _present(file: Path) -> tuple[str, str]:
    from kernelbot.server.dev.files import read_now

    return read_now(file).decode("utf-8", "replace"), _PRESENT


def _document(entry: LogEntry) -> dict[str, object]:
    return {
        "version": entry.number,
        "at": entry.at,
        "sha256": entry.sha256,
        "verdict": entry.verdict,
        "score_s": entry.score_s,
        "note": entry.note,
    }
