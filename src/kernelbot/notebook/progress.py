"""The output of a cell: what is being done, and in its place then what came of it."""

from typing import Any, Self

from IPython.display import DisplayHandle

from kernelbot.notebook.report import CellReport
from kernelbot.render.text import one_line, printable


class CellProgress:
    """Use it in a `with` block. The line disappears at the end, unless a report took its place."""

    def __init__(self) -> None:
        self._handle = DisplayHandle()
        self._is_shown = False
        self._text = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._text:
            self._show({"text/plain": ""})

    def now(self, text: str | None) -> None:
        """Set the current activity; None: no change."""
        if text is not None and text != self._text:
            self._text = text
            self._show({"text/plain": one_line(text)})

    def log(self, text: str | None) -> None:
        """Nothing: `now` shows the same."""

    def say(self, text: str) -> None:
        """Print something that stays."""
        print(printable(text))

    def replace_by(self, report: CellReport) -> None:
        """Show the report where the line was."""
        self._text = ""
        self._show(report.bundle())

    def _show(self, bundle: dict[str, Any]) -> None:
        if self._is_shown:
            self._handle.update(bundle, raw=True)
        else:
            self._handle.display(bundle, raw=True)
        self._is_shown = True
