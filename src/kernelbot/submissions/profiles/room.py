"""How much of a report a profile shows: a page has all of it at once, and its text is anybody's."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from kernelbot.render.text import one_line, shorten

_CELL = 300
_SENTENCE = 500
_TEXT = 20_000
_LEAST = 100
"""Characters of a text that are shown in any case: they say how much is left out."""
_BYTES_PER_CHARACTER = 10
"""At most, in HTML: what can't be printed is written out."""


@dataclass
class Room:
    """What one profile may still show. `html_bytes`: of all texts together, as they are in a
    page."""

    cells: int = 2_000
    sentences: int = 200
    html_bytes: int = 100_000

    def add_row(self, cells: Sequence[str]) -> tuple[str, ...] | None:
        """The cells of a row, shortened. None: there is no room for all of them."""
        if len(cells) > self.cells:
            return None
        shown = tuple(shorten(cell, _CELL) for cell in cells)
        if not self._takes(*shown):
            return None
        self.cells -= len(cells)
        return shown

    def add_sentence(self, text: str) -> str | None:
        """The sentence, shortened. None: there is no room for it."""
        shown = shorten(text, _SENTENCE)
        if not self.sentences or not self._takes(shown):
            return None
        self.sentences -= 1
        return shown

    def add_text(self, text: str) -> str:
        """Adds as much of a text as there is room for, with a note if that isn't all."""
        shown = shorten(text, _TEXT)
        if not self._takes(shown):
            room = self.html_bytes // _BYTES_PER_CHARACTER
            shown = shorten(text, max(_LEAST, room))
            self.html_bytes = max(0, self.html_bytes - _html_bytes(shown))
        return shown

    def _takes(self, *texts: str) -> bool:
        size_bytes = sum(map(_html_bytes, texts))
        if size_bytes > self.html_bytes:
            return False
        self.html_bytes -= size_bytes
        return True


def _html_bytes(text: str) -> int:
    return len(escape(one_line(text)).encode())
