"""What a command prints, and where: progress to stderr, results to stdout, or one JSON document."""

import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from kernelbot.render.text import printable, wrap

if TYPE_CHECKING:  # importing it would lengthen of `kernelbot --help`
    from rich.text import Text

_MARKS = (
    (r"(?m)^ *(?:\[[^\]\n]*\] *)?✓", "green"),
    (r"(?m)^ *(?:\[[^\]\n]*\] *)?[✗!](?= )", "red"),
)
_LINES = {"Note:": "dim", "Score ": "bold"}
"""How lines that begin so are shown."""


class Terminal:
    """With `as_json` nothing but the document goes to stdout, and no progress is shown."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def progress(self, text: str) -> None:
        """Print a step."""
        if not self.as_json:
            _write(sys.stderr, printable(text), columns(sys.stderr))

    def show(self, text: str) -> None:
        """The result for people."""
        if not self.as_json:
            _write(sys.stdout, printable(text), columns(sys.stdout))

    def show_file(self, text: str) -> None:
        """Print a file's text without adding a line break; as it is, unless a terminal shows it: it
        may be redirected to a file, of which each character counts."""
        if not self.as_json:
            shown = printable(text.replace("\r\n", "\n")) if sys.stdout.isatty() else text
            _write(sys.stdout, shown, end="")

    def document(self, value: object) -> None:
        """The result for programs: a dictionary, a frozen value or a model."""
        if self.as_json:
            found = value if isinstance(value, dict) else as_document(value)
            sys.stdout.write(json.dumps(found, indent=2) + "\n")
            sys.stdout.flush()

    def answer(self, text: str, document: object) -> None:
        """The result: the text for people, the document for programs."""
        self.show(text)
        self.document(document)


def as_document(value: object) -> Any:
    """All fields of a value or a model, as what `json.dumps` takes."""
    from kernelbot.domain.plain_values import Unclear, plain

    try:
        return plain(value)
    except Unclear:
        from kernelbot.schemas import values

        return values.plain(value)


def is_attended() -> bool:
    """Whether a person sits there who can be asked: no script ever is."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def columns(stream: TextIO | None = None) -> int | None:
    """How wide the terminal of `stream` (None: of stdout) is; None if it isn't one."""
    if not (stream or sys.stdout).isatty():
        return None
    import shutil  # with it, what packs and unpacks archives

    return shutil.get_terminal_size().columns


def fitting(text: str, stream: TextIO) -> str:
    """Text that is safe to show, wrapped at words on a terminal. Names and messages come from
    other people: they must not move the reader's cursor."""
    width = columns(stream)
    return printable(text) if width is None else wrap(printable(text), width)


def is_coloured(stream: TextIO) -> bool:
    """Whether to use colours: only on a terminal, and not if NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def coloured(text: str, width: int | None = None) -> "Text":
    """Text in which verdicts, notes and scores stand out, wrapped if there is a `width`."""
    from rich.text import Text

    lines = [line if width is None else wrap(line, width) for line in text.split("\n")]
    found = Text("\n".join(lines))
    for pattern, style in _MARKS:
        found.highlight_regex(pattern, style)
    begin = 0
    for line in lines:
        for start, style in _LINES.items():
            if line.startswith(start):
                found.stylize(style, begin, begin + len(line))
        begin += len(line) + 1
    return found


def _write(stream: TextIO, text: str, width: int | None = None, end: str = "\n") -> None:
    if is_coloured(stream):
        from rich.console import Console

        Console(file=stream).print(coloured(text, width), soft_wrap=True, end=end)
    else:
        stream.write((text if width is None else wrap(text, width)) + end)
    stream.flush()
