"""The current activity and how long it has taken: one live line, on a terminal only."""

import sys
import time
from typing import TYPE_CHECKING

from kernelbot.cli.terminal import Terminal, fitting
from kernelbot.render.text import one_line

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_PER_SECOND = 4


class Moving:
    """Use it in a `with` block. On a terminal the last line of stderr shows the current activity
    and its duration, and disappears at the end. Elsewhere each step is a line of its own."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._text = ""
        self._since_s = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> "Moving":
        if not self._terminal.as_json and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                get_renderable=self._line,
                console=Console(file=sys.stderr),
                refresh_per_second=_PER_SECOND,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def now(self, text: str | None) -> None:
        """Set the current activity; None: no change. Only a terminal shows it."""
        if text is not None and text != self._text:
            self._text, self._since_s = text, time.monotonic()
            if self._live is not None:
                self._live.refresh()

    def log(self, text: str | None) -> None:
        """Print a step, unless None; only if stderr isn't a terminal."""
        if text is not None and self._live is None:
            self._terminal.progress(text)

    def say(self, text: str) -> None:
        """Print something that stays, above the live line if there is one."""
        if self._live is not None:
            self._live.console.print(fitting(text, sys.stderr), soft_wrap=True, markup=False)
        else:
            self._terminal.progress(text)

    def _line(self) -> "Text":
        from rich.text import Text

        elapsed_s = int(time.monotonic() - self._since_s)
        elapsed = f"  {elapsed_s} s" if elapsed_s else ""
        return Text(one_line(self._text) + elapsed, no_wrap=True, overflow="ellipsis", style="dim")
