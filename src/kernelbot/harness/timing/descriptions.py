"""Outputs that are described as others than those that were taken at their marks.

A description comes when the kernel has returned, and so when it may compute again. An output whose
form is known is taken at the mark, and its description has to agree. If it doesn't, the call counts
until it was described, as that of an output of another size has to. So a kernel could guess at the
mark, find out behind it what is right, and name something else only where the guess was wrong: most
of its calls would be over at once. Therefore what a kernel that has disowned an output computes
while others are described counts as well: what it found out there is part of its answer.
"""

from collections.abc import Sequence
from dataclasses import replace

from kernelbot.harness.words.windows import Window


def with_descriptions(of_each: Sequence[Sequence[Window]]) -> list[list[Window]]:
    """The windows of a kernel's processes; if it has disowned an output in one of them, what was
    computed after the mark counts in all."""
    if not any(window.disowned for windows in of_each for window in windows):
        return [list(windows) for windows in of_each]
    return [[replace(one, late_ns=one.describing_ns) for one in windows] for windows in of_each]
