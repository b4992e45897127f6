"""Compares files in a time that grows with their length, whatever is in them.

Lines that both have once are matched first, in the longest common order. What lies between two of
them is compared line by line if it is small, and counts as replaced otherwise.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

_PAIRS_OF_A_GAP = 40_000
"""Lines before times lines after, of a part that is compared line by line."""
_PAIRS = 1_000_000
"""The most pairs of lines that are compared in all such parts together."""
_CONTEXT = 3
_Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]
_Block = tuple[int, int, int]
"""So many lines from there in the one are those from there in the other."""


def between(before: str, after: str, first: str, second: str) -> list[str]:
    """The lines of a unified diff of two texts, none only if these are equal. A line ends at a line
    feed alone: at a form feed, say, a comment goes on, so that what hides behind one isn't the same
    as a line. How lines end on Windows is left out, unless nothing else differs."""
    one, other = (text.replace("\r\n", "\n") for text in (before, after))
    found = list(unified(*_lines(one, other), first, second))
    return found or list(unified(*_lines(before, after), first, second))


def _lines(before: str, after: str) -> tuple[list[str], list[str]]:
    one, other = before.split("\n"), after.split("\n")
    ended = not one[-1] and not other[-1]
    return (one[:-1], other[:-1]) if ended else (one, other)


def unified(before: Sequence[str], after: Sequence[str], first: str, second: str) -> Iterator[str]:
    """The lines of a unified diff; none if nothing differs."""
    opcodes = list(_opcodes(len(before), len(after), _blocks(before, after)))
    matcher = _Grouping(opcodes)
    heads = [f"--- {first}", f"+++ {second}"]
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield from heads
        heads = []
        a, b = _range(group[0][1], group[-1][2]), _range(group[0][3], group[-1][4])
        yield f"@@ -{a} +{b} @@"
        for kind, a1, a2, b1, b2 in group:
            if kind == "equal":
                yield from (" " + line for line in before[a1:a2])
            else:
                yield from ("-" + line for line in before[a1:a2])
                yield from ("+" + line for line in after[b1:b2])


class _Grouping(SequenceMatcher[str]):
    """The library's way to make groups, of what was matched here."""

    def __init__(self, opcodes: "list[_Opcode]") -> None:
        super().__init__(None, [], [])
        self._given = opcodes

    def get_opcodes(self) -> "list[_Opcode]":
        return list(self._given)


def _range(start: int, stop: int) -> str:
    length = stop - start
    begins = start + 1 if length else start
    return str(begins) if length == 1 else f"{begins},{length}"


def _opcodes(a_end: int, b_end: int, blocks: Iterator[_Block]) -> Iterator[_Opcode]:
    a = b = 0
    for i, j, length in (*blocks, (a_end, b_end, 0)):
        if a < i and b < j:
            yield ("replace", a, i, b, j)
        elif a < i:
            yield ("delete", a, i, b, j)
        elif b < j:
            yield ("insert", a, i, b, j)
        if length:
            yield ("equal", i, i + length, j, j + length)
        a, b = i + length, j + length


def _blocks(before: Sequence[str], after: Sequence[str]) -> Iterator[_Block]:
    """What both have, in order; neighbouring blocks are one."""
    found = [0, 0, 0]
    for i, j, length in _pieces(before, after):
        if found[0] + found[2] == i and found[1] + found[2] == j:
            found[2] += length
            continue
        if found[2]:
            yield (found[0], found[1], found[2])
        found = [i, j, length]
    if found[2]:
        yield (found[0], found[1], found[2])


def _pieces(before: Sequence[str], after: Sequence[str]) -> Iterator[_Block]:
    left = _PAIRS
    a = b = 0
    for i, j in (*_anchors(before, after), (len(before), len(after))):
        head = _common(before[a:i], after[b:j])
        yield (a, b, head)
        a, b = a + head, b + head
        tail = _common(before[a:i][::-1], after[b:j][::-1])
        pairs = (i - tail - a) * (j - tail - b)
        if 0 < pairs <= min(left, _PAIRS_OF_A_GAP):
            left -= pairs
            inner = SequenceMatcher(None, before[a : i - tail], after[b : j - tail], autojunk=False)
            for block in inner.get_matching_blocks():
                yield (a + block.a, b + block.b, block.size)
        yield (i - tail, j - tail, tail)
        if i < len(before) and j < len(after):
            yield (i, j, 1)
        a, b = i + 1, j + 1


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """The lines that each has once, in the longest common order."""
    of_before, of_after = Counter(before), Counter(after)
    place = {line: number for number, line in enumerate(after) if of_after[line] == 1}
    pairs = [
        (number, place[line])
        for number, line in enumerate(before)
        if of_before[line] == 1 and line in place
    ]
    ends: list[int] = []
    last: list[int] = []
    previous: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        previous.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [number]
    chain = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(pairs[at])
        at = previous[at]
    return chain[::-1]
