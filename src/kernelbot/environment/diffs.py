"""Unified diffs as programs write them: exact in their lines, often wrong in their numbers."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from kernelbot.domain.errors import InvalidSubmission
from kernelbot.render.text import encodable

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_MOST_COMPARISONS = 2_000_000
_INSTEAD = "Send a diff against the last source, or a whole one."


class _End(Enum):
    """What a diff says of the end of the new file."""

    AS_BEFORE = auto()
    NEWLINE = auto()
    NO_NEWLINE = auto()


@dataclass
class _Hunk:
    """`old` are the lines that it is found by, `new` what they become. `named` is the first line by
    the diff's own word, from 1; if there is no old line, the one before."""

    number: int
    head: str
    named: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    kind: str = ""
    """How its latest line begins."""
    end: _End = _End.AS_BEFORE


def patched(source: str, diff: str) -> str:
    """The source with the diff applied. A hunk is found by its lines; if these are in several
    places, at the nearest one to the number that it names, after the hunks before.

    Raises `InvalidSubmission` if this isn't a unified diff of one file, or fits nowhere.
    """
    lines = source.split("\n")
    has_newline = lines[-1] == ""
    if has_newline:
        lines.pop()
    places = _Positions(lines)
    made: list[str] = []
    done, end = 0, _End.AS_BEFORE
    for hunk in _hunks(diff):
        begin = places.find(hunk, done)
        made += lines[done:begin]
        made += hunk.new
        done, end = begin + len(hunk.old), hunk.end
    made += lines[done:]
    if end is not _End.AS_BEFORE:
        has_newline = end is _End.NEWLINE
    return "\n".join(made) + ("\n" if has_newline and made else "")


def _hunks(diff: str) -> Iterator[_Hunk]:
    hunk: _Hunk | None = None
    count = 0
    for line in _body(diff):
        found = _HUNK.match(line)
        if found:
            if hunk is not None:
                yield hunk
            count += 1
            head = encodable(line.strip()[:80])  # it is answered
            hunk = _Hunk(count, head, int(found[1]))
        elif hunk is not None:
            _add(hunk, line)
    if hunk is None:
        raise InvalidSubmission(
            "This isn't a unified diff: no line begins as `@@ -1,2 +1,3 @@` does.", hint=_INSTEAD
        )
    yield hunk


def _body(diff: str) -> Iterator[str]:
    """The diff's lines from the first hunk on. Raises `InvalidSubmission` for a second file."""
    lines = diff.removesuffix("\n").split("\n")
    is_begun = False
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if line.startswith("diff ") or (line.startswith("--- ") and following.startswith("+++ ")):
            if is_begun:
                raise InvalidSubmission("The diff changes several files, and a source is one.")
            continue
        is_begun = is_begun or _HUNK.match(line) is not None
        if is_begun:
            yield line


def _add(hunk: _Hunk, line: str) -> None:
    kind, text = (
        line[:1] or " ",
        line[1:],
    )  # editors take away the blank that empty lines begin with
    if kind == "\\":
        hunk.end = _End.NEWLINE if hunk.kind == "-" else _End.NO_NEWLINE
        return
    if kind not in " -+":
        raise InvalidSubmission(
            f"Hunk {hunk.number} of the diff ({hunk.head}) has a line that begins with {kind!r}, "
            "and not with a blank, - or +."
        )
    hunk.kind = kind
    if kind != "+":
        hunk.old.append(text)
    if kind != "-":
        hunk.new.append(text)


class _Positions:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._by_line: dict[str, list[int]] = {}
        for at, line in enumerate(lines):
            self._by_line.setdefault(line, []).append(at)
        self._comparisons_left = _MOST_COMPARISONS

    def find(self, hunk: _Hunk, done: int) -> int:
        """Where its old lines are, behind so many that are done with. Raises
        `InvalidSubmission`."""
        if not hunk.old:
            return min(max(hunk.named, done), len(self._lines))
        positions = self._by_line.get(hunk.old[0], [])
        for at in _outward(positions, done, hunk.named - 1):
            self._comparisons_left -= len(hunk.old)
            if self._comparisons_left < 0:
                raise InvalidSubmission(
                    "The diff can't be applied in reasonable time: its lines are too much alike.",
                    hint=_INSTEAD,
                )
            if self._lines[at : at + len(hunk.old)] == hunk.old:
                return at
        raise InvalidSubmission(
            f"Hunk {hunk.number} of the diff ({hunk.head}) fits nowhere: its lines aren't in the "
            "last source as they are written there, after the hunks before.",
            hint=_INSTEAD,
        )


def _outward(positions: list[int], begin: int, expected: int) -> Iterator[int]:
    """The positions from `begin` on, the nearest to the expected one first."""
    first = bisect_left(positions, begin)
    above = max(bisect_left(positions, expected), first)
    below = above - 1
    while below >= first or above < len(positions):
        is_above = below < first or (
            above < len(positions) and positions[above] - expected < expected - positions[below]
        )
        yield positions[above if is_above else below]
        above, below = (above + 1, below) if is_above else (above, below - 1)
