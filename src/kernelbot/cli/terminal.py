"""What a command prints, and where: progress to stderr, results to stdout, or one JSON document."""

import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from kernelbot.render.text import printable, wrap

if TYPE_CHECKING:  # importing it would lengthen of `kernelbot --help`
    from rich.text import Text

_STYLES = (
    (r"(?m)^ *(?:\[[^\]\n]*\] *)?✓", "green"),
    (r"(?m)^ *(?:\[[^\]\n]*\] *)?[✗!](?= )", "red"),
    (r"(?m)^Note:.*$", "dim"),
    (r"(?m)^Score .*$", "bold"),
)


class Terminal:
    """With `as_json` nothing but the document goes to stdout, and no progress is shown."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def progress(self, text: str) -> None:
        """Print a step."""
        if not self.as_json:
            _write(sys.stderr, fitting(text, sys.stderr))

    def show(self, text: str) -> None:
        """The result for people."""
        if not self.as_json:
            _write(sys.stdout, fitting(text, sys.stdout))

    def show_file(self, text: str) -> None:
        """Print a file's text without adding a line break, so that it can be redirected."""
        if not self.as_json:
            _write(sys.stdout, printable(text), end="")

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


def coloured(text: str) -> "Text":
    """Text in which verdicts, notes and scores stand out."""
    from rich.text import Text

    found = Text(text)
    for pattern, style in _STYLES:
        found.highlight_regex(pattern, style)
    return found


def _write(stream: TextIO, text: str, end: str = "\n") -> None:
    if is_coloured(stream):
        from rich.console import Console

        Console(file=stream).print(coloured(text), soft_wrap=True, end=end)
    else:
        stream.write(text + end)
    stream.flush()
