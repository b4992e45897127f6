"""A duel's outcome as text: two kernels, called in turn on the same data."""

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from kernelbot.duels.model import ratio_text
from kernelbot.protocol import DuelResult, DuelWorkload
from kernelbot.render.report import STOPPED
from kernelbot.render.table import table
from kernelbot.render.text import indent, one_line
from kernelbot.render.units import time_text

Name = TypeVar("Name", bound=str)

RATIO_HEADERS = ("workload", "A", "B", "A / B", "95 % interval", "faster", "pairs")
RATIO_NUMBERS = ("A", "B", "A / B", "95 % interval", "pairs")


def duel_text(duel: DuelResult, first: str, second: str, columns: int | None = None) -> str:
    """The ratio of each workload, how it was measured, and the answer last.

    `first`, `second`: the names of the submission and of its opponent. `columns`: the terminal's,
    into which the table is to fit; None: there is no such limit.
    """
    names = f"A: {one_line(first)}\nB: {one_line(second)}"
    width = None if columns is None else columns - 2
    parts = [names, indent(ratios_table(duel.workloads, width), "  ")]
    how = how_measured(duel.workloads)
    return "\n\n".join([*parts, how, _answer(duel, one_line(first), one_line(second))])


def faster(ratio_ci95: tuple[float, float], first: Name, second: Name) -> Name | None:
    """The faster one of both by the interval of their ratio; None: it can't be told."""
    low, high = ratio_ci95
    if high < 1:
        return first
    return second if low > 1 else None


def ratios_table(workloads: Sequence[DuelWorkload], columns: int | None = None) -> str:
    """The rows of `ratio_rows`. `columns`: as in `duel_text`."""
    return table(RATIO_HEADERS, ratio_rows(workloads), right=RATIO_NUMBERS, columns=columns)


def ratio_rows(workloads: Sequence[DuelWorkload]) -> list[tuple[str, ...]]:
    """For each workload the cells below `RATIO_HEADERS`: both kernels' medians, and the ratio of
    the first to the second."""
    return [
        (
            one_line(one.spec),
            time_text(statistics.median(one.submission_ns)),
            time_text(statistics.median(one.opponent_ns)),
            ratio_text(one.ratio),
            _interval(one.ratio_ci95),
            faster(one.ratio_ci95, "A", "B") or "can't tell",
            str(len(one.submission_ns)),
        )
        for one in workloads
    ]


def how_measured(workloads: Sequence[DuelWorkload]) -> str:
    """What both calls of a pair had in common, and why there are no more pairs."""
    counts = Counter(one.stopped_by for one in workloads)
    ended = " or ".join(
        f"{STOPPED[reason]} ({count} of {len(workloads)})" if len(counts) > 1 else STOPPED[reason]
        for reason, count in counts.items()
        if reason in STOPPED
    )
    sampled = f" Sampling ended because {ended}." if ended else ""
    return f"Both calls of a pair had the same new data, cold caches, and a random order.{sampled}"


def _answer(duel: DuelResult, first: str, second: str) -> str:
    ratio, interval = ratio_text(duel.ratio), _interval(duel.ratio_ci95)
    letter = faster(duel.ratio_ci95, "A", "B")
    if letter is None:
        return (
            f"Can't tell which is faster: A takes {ratio} of B's time, "
            f"and the 95 % interval {interval} contains 1."
        )
    name = first if letter == "A" else second
    took = f"A takes {ratio} of B's time (95 % interval {interval})."
    return f"✓ {letter} is faster: {name}\n{took}"


def _interval(ratio_ci95: tuple[float, float]) -> str:
    low, high = ratio_ci95
    return f"{ratio_text(low)} to {ratio_text(high)}"
