"""What a session of `kernelbot dev` shows: in place on a terminal, elsewhere in lines, or JSON."""

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kernelbot.cli.terminal import Terminal, coloured, columns, is_coloured
from kernelbot.protocol import ProgressEvent, Verdict
from kernelbot.render.progress import RunActivity, progress_line
from kernelbot.render.saves import diagnostic_line, save_text, tests_line
from kernelbot.render.text import one_line
from kernelbot.saves.model import Save

if TYPE_CHECKING:
    from rich.text import Text

_PER_SECOND = 4
_WAITING = "waiting for the next save; Ctrl-C ends"


class Documents:
    """One JSON object per save, each in a line of stdout."""

    def begin(self, number: int) -> None:
        """Nothing is known yet."""

    def step(self, text: str) -> None:
        """No progress is shown."""

    def event(self, event: ProgressEvent) -> None:
        """No progress is shown."""

    def tests(self, verdict: Verdict, after_s: float) -> None:
        """Nothing: the save's object has the tests' verdict."""

    def end(self, save: Save) -> None:
        """Print the object."""
        from kernelbot.saves.schemas import SaveView

        sys.stdout.write(SaveView.from_domain(save).model_dump_json() + "\n")
        sys.stdout.flush()


class Lines:
    """Each step in a line, for what isn't a terminal: progress to stderr, results to stdout."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def begin(self, number: int) -> None:
        """Say which save."""
        self._terminal.progress(f"judging save {number} ...")

    def step(self, text: str) -> None:
        """Say it."""
        self._terminal.progress(text)

    def event(self, event: ProgressEvent) -> None:
        """Show progress as `kernelbot run` does."""
        if text := progress_line(event):
            self._terminal.progress(text)

    def tests(self, verdict: Verdict, after_s: float) -> None:
        """A result: it comes long before the times."""
        self._terminal.show(tests_line(verdict, after_s))

    def end(self, save: Save) -> None:
        """The errors and warnings, a line each, and then the whole save: its first line tells an
        editor that there are no more of them."""
        for diagnostic in save.diagnostics:
            self._terminal.show_file(f"{diagnostic_line(diagnostic)}\n")  # it isn't wrapped
        self._terminal.show(save_text(save))


class Screen:
    """On a terminal: what is being done, and below it the last save. Use it in a `with` block."""

    def __init__(self, problem: Path, file: Path) -> None:
        from rich.console import Console
        from rich.live import Live

        self._title = f"{one_line(file.name)} for {one_line(problem.resolve().name)}"
        self._lock = threading.Lock()
        self._activity = RunActivity()
        self._doing, self._since_s = _WAITING, time.monotonic()
        self._tests = ""
        self._last = ""
        self._live = Live(
            get_renderable=self._frame,
            console=Console(file=sys.stdout, no_color=not is_coloured(sys.stdout)),
            refresh_per_second=_PER_SECOND,
        )

    def __enter__(self) -> "Screen":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._change(doing="", tests="")
        self._live.stop()

    def begin(self, number: int) -> None:
        """The save before stays below."""
        self._activity = RunActivity()
        self._change(doing=f"judging save {number}", tests="")

    def step(self, text: str) -> None:
        """Instead of the progress."""
        self._change(doing=one_line(text))

    def event(self, event: ProgressEvent) -> None:
        """Progress."""
        if text := self._activity.after(event):
            self._change(doing=text)

    def tests(self, verdict: Verdict, after_s: float) -> None:
        """Above the save before, which is still shown."""
        self._change(tests=tests_line(verdict, after_s))

    def end(self, save: Save) -> None:
        """Show the save instead of the one before."""
        self._change(doing=_WAITING, tests="", last=save_text(save, columns()))

    def _change(
        self, *, doing: str | None = None, tests: str | None = None, last: str | None = None
    ) -> None:
        with self._lock:
            if doing is not None:
                self._doing, self._since_s = doing, time.monotonic()
            self._tests = self._tests if tests is None else tests
            self._last = self._last if last is None else last
        self._live.refresh()

    def _frame(self) -> "Text":
        with self._lock:
            elapsed_s = int(time.monotonic() - self._since_s)
            doing = f"{self._doing}  {elapsed_s} s" if elapsed_s else self._doing
            lines = [f"{self._title}: {doing}" if doing else self._title, self._tests, self._last]
        return coloured("\n".join(line for line in lines if line), columns())
