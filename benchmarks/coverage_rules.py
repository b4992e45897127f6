"""Rules that make an interval of a judging, and how many of their intervals hold the truth."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kernelbot.protocol.scoring import median_interval, median_time
from kernelbot.ranking.rules import widened
from kernelbot.render.table import table
from kernelbot.render.units import seconds_text

ENOUGH_PAIRS = 12
"""As many pairs as are assumed of a device that has shown nothing."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class Judging:
    """What one judging of a kernel measured, in ns, and how long it took."""

    kernel: str
    samples_ns: tuple[float, ...]
    processes: int
    stopped_by: str
    took_s: float

    @property
    def median_ns(self) -> float:
        """The median of all samples."""
        return statistics.median(self.samples_ns)

    @property
    def of_each(self) -> list[Sequence[float]]:
        """Each process's samples."""
        return [self.samples_ns[place :: self.processes] for place in range(self.processes)]

    @property
    def interval_ns(self) -> Interval:
        """A run's own."""
        return median_time(self.samples_ns, processes=self.processes).ci95_ns


@dataclass(frozen=True)
class Known:
    """What the platform knew of the scatter between judgings, before a judging: a standard
    deviation of ln(time), and of how many pairs. `is_ranked`: that judging isn't measured again
    because its own interval is too wide."""

    scatter: float
    pairs: int
    is_ranked: bool


@dataclass
class Found:
    """How many of a rule's intervals held the truth, and how wide they were, as shares."""

    held: int = 0
    half_widths: list[float] = field(default_factory=list)

    def add(self, interval: Interval, truth: float) -> None:
        """One more interval."""
        low, high = interval
        self.held += low <= truth <= high
        self.half_widths.append((high - low) / 2 / truth)

    @property
    def count(self) -> int:
        """How many intervals there are."""
        return len(self.half_widths)

    def row(self, name: str) -> tuple[str, ...]:
        """A line of the table."""
        if not self.count:
            return name, "0 of 0", "", ""
        share = f"{self.held / self.count:.1%}"
        half_width = f"±{statistics.median(self.half_widths):.2%}"
        return name, f"{self.held} of {self.count}", share, half_width


@dataclass(frozen=True)
class Kernel:
    """A kernel's judgings in their order, and what was known before each."""

    judgings: Sequence[Judging]
    known: Sequence[Known]

    @property
    def truth(self) -> float:
        """Its long-run median, in ns: over all its judgings."""
        return statistics.median(one.median_ns for one in self.judgings)

    @property
    def beyond(self) -> float:
        """Its variance between judgings beyond that which its processes explain."""
        logs = [math.log(one.median_ns) for one in self.judgings]
        return statistics.variance(logs) - statistics.fmean(map(variance_of_mean, self.judgings))


def by_kernel(judged: Sequence[Judging], known: Sequence[Known]) -> Mapping[str, Kernel]:
    """The judgings of each kernel that was judged more than once. `known`: one for each judging."""
    found = dict[str, list[tuple[Judging, Known]]]()
    for judging, of_then in zip(judged, known, strict=True):
        found.setdefault(judging.kernel, []).append((judging, of_then))
    return {
        name: Kernel([one for one, _ in pairs], [of_then for _, of_then in pairs])
        for name, pairs in found.items()
        if len(pairs) > 1
    }


def report(judged: Sequence[Judging], known: Sequence[Known]) -> str:
    """How the rules did, and each kernel's own lines."""
    kernels = by_kernel(judged, known)
    rules: list[tuple[str, Callable[[Kernel], Found]]] = [
        ("of the samples of one process", of_one_process),
        ("of all samples, as if of one process", as_one),
        ("a run's own", own),
        ("as shown, from the first judging on", shown),
        (f"as shown, from {ENOUGH_PAIRS} pairs on", lambda one: shown(one, ENOUGH_PAIRS)),
        (
            "own and the others' scatter in this run",
            lambda one: own(one, _others(kernels, one)),
        ),
    ]
    rows = [together(map(rule, kernels.values())).row(text) for text, rule in rules]
    headers = ("95 % interval", "hold it", "share", "half-width")
    return "\n\n".join((table(headers, rows, right=headers[1:]), _kernels_table(kernels)))


def of_one_process(kernel: Kernel) -> Found:
    """The interval of each process's samples, as if it had been alone."""
    each = [samples for one in kernel.judgings for samples in one.of_each]
    return _held(map(median_interval, each), statistics.median(map(statistics.median, each)))


def as_one(kernel: Kernel) -> Found:
    """The interval of all samples of a judging, whichever process took them."""
    return _held((median_interval(one.samples_ns) for one in kernel.judgings), kernel.truth)


def own(kernel: Kernel, scatter: float = 0.0) -> Found:
    """A run's own interval, widened by a deviation between judgings, as a share."""
    return _held((_wide(one, scatter) for one in kernel.judgings), kernel.truth)


def shown(kernel: Kernel, fewest_pairs: int = 0) -> Found:
    """What a ranked run's interval is shown as: its own with what the device had shown before,
    of judgings before which it had shown so many pairs at least."""
    intervals = (
        _wide(one, known.scatter)
        for one, known in zip(kernel.judgings, kernel.known, strict=True)
        if known.is_ranked and known.pairs >= fewest_pairs
    )
    return _held(intervals, kernel.truth)


def together(found: Iterable[Found]) -> Found:
    """What was found of all kernels."""
    every = list(found)
    widths = [width for one in every for width in one.half_widths]
    return Found(sum(one.held for one in every), widths)


def variance_of_mean(one: Judging) -> float:
    """The variance of the mean of the processes' medians, in logarithms: what explains scatter by
    processes."""
    if one.processes < 2:
        return 0.0
    logs = [math.log(statistics.median(samples)) for samples in one.of_each]
    return statistics.variance(logs) / len(logs)


def _wide(one: Judging, scatter: float) -> Interval:
    return widened(one.median_ns, one.interval_ns, scatter)


def _held(intervals: Iterable[Interval], truth: float) -> Found:
    found = Found()
    for interval in intervals:
        found.add(interval, truth)
    return found


def _others(kernels: Mapping[str, Kernel], kernel: Kernel) -> float:
    """The deviation between judgings that the other kernels show beyond that of their processes."""
    beyond = [other.beyond for other in kernels.values() if other is not kernel]
    return math.sqrt(max(statistics.fmean(beyond), 0.0)) if beyond else 0.0


def _kernels_table(kernels: Mapping[str, Kernel]) -> str:
    headers = (
        *("kernel", "median", "judgings", "own", "half-width", "shown", "half-width"),
        *("scatter", "by processes", "known last", "s"),
    )
    rows = []
    for name, kernel in kernels.items():
        ones = kernel.judgings
        scatter = statistics.stdev(math.log(one.median_ns) for one in ones)
        explained = math.sqrt(statistics.fmean(map(variance_of_mean, ones)))
        took_s = statistics.median(one.took_s for one in ones)
        rows.append(
            (
                *(name, seconds_text(kernel.truth / 1e9), str(len(ones))),
                *own(kernel).row(name)[2:],
                *shown(kernel).row(name)[2:],
                *(f"{scatter:.2%}", f"{explained:.2%}"),
                *(f"{kernel.known[-1].scatter:.2%}", f"{took_s:.1f}"),
            )
        )
    return table(headers, rows, right=headers[1:])
