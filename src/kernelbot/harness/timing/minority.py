"""What a minority of calls does for the others counts for all of them.

A median says nothing of fewer than half of the calls. A kernel whose work needn't be that of the
very call (random numbers, tables, any answer that is right) could do in every third what three
need, and its median call would do nothing. So no median is less than the mean of what all calls
certainly did. Waits don't count, which are other processes' doing; processor time does.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernelbot.harness.timing.plausibility import CallBaseline
from kernelbot.harness.timing.processes import interleaved
from kernelbot.harness.words.windows import Window

_LENIENCY = 1.05
"""So much more than the median may the mean be before it counts: honest calls vary to one side."""
_DOUBT = 2.0
"""Processor time that nobody claims counts only beyond twice what control calls have of that."""
_HELPERS_NS = 2_000_000
"""Threads that go on for a while after their work may use so much more than twice what is usual of
them, before and after a call."""
_TOLD = 1.1
_STRETCHES = 4
"""How many stretches of time there are; see `protocol/scoring.py`."""
_FEWEST_IN_A_STRETCH = 2


@dataclass(frozen=True)
class WindowWork:
    """What one window's calls did, in ns."""

    sample_ns: float
    """The time that counts, were it for this window alone."""
    certain_ns: float
    """What of that was both claimed and computed: no other process is in it."""
    unclaimed_ns: float = 0.0
    """What was computed in the call beyond its claim: a lie, or what begins and ends a window."""
    beside_ns: float = 0.0
    """What was computed before and after the call, beyond what may be."""
    claim_ns: float = 0.0
    """The claim, if that is more than what is certain: waits are in it."""

    @classmethod
    def from_window(
        cls, window: Window, baseline: CallBaseline, helpers_ns: float = math.inf
    ) -> "WindowWork":
        """What the judge's clocks say of a window. `helpers_ns`: how much threads beside the main
        one may use before and after a call."""
        sample_ns = baseline.bounded_ns(window)
        claim_ns, beside_ns = (
            baseline.launched_ns(window),
            _outside_ns(window, baseline, helpers_ns),
        )
        computed_ns = _computed_ns(window, baseline)
        if window.described:  # its claim ends before its time does
            return cls(sample_ns, min(computed_ns, sample_ns), 0.0, beside_ns)
        # A wait may lie before the claim began, and none is in what was computed. Taken from the
        # claim here, it would make calls that did their work calls that did nothing.
        certain_ns = min(window.claim_ns, computed_ns)
        return cls(sample_ns, certain_ns, computed_ns - certain_ns, beside_ns, claim_ns)


def mean_ns(works: Sequence[WindowWork], noise_ns: float) -> float:
    """What a call has to count at least, by all of them together: the mean of what they certainly
    did, and of the rest what is usual; on a busy machine with as much waiting as work usually has
    there, since others' samples have that as well. Less than the median where nothing was saved up.

    `noise_ns`: how much processor time a control call has beyond the median, at the mean.
    """
    certain_ns = statistics.fmean(one.certain_ns + one.beside_ns for one in works)
    rest_ns = statistics.median(one.sample_ns - one.certain_ns for one in works)
    unclaimed_ns = statistics.fmean(one.unclaimed_ns for one in works) - _DOUBT * noise_ns
    apart_ns = max(rest_ns, unclaimed_ns, (_waiting(works) - 1.0) * certain_ns)
    return (certain_ns + apart_ns) / _LENIENCY


def _waiting(works: Sequence[WindowWork]) -> float:
    """How many times longer than its work a call lasts, by its claim: the median of all work."""
    ordered = sorted(
        (max(one.claim_ns / one.certain_ns, 1.0), one.certain_ns) for one in works if one.certain_ns
    )
    half_ns = math.fsum(certain_ns for _, certain_ns in ordered) / 2
    for times, certain_ns in ordered:
        half_ns -= certain_ns
        if half_ns <= 0:
            return times
    return 1.0


def carried_ns(works: Sequence[WindowWork], noise_ns: float) -> list[float]:
    """What to add to each sample, in the order in which they were taken, so that their median is no
    less than the mean; nothing if it isn't anyway.

    How much a minority carries is known less well than a median. So quarters of the time differ by
    what each of them shows, and the interval contains how much that is.
    """
    median_ns = statistics.median(one.sample_ns for one in works)
    of_all_ns = mean_ns(works, noise_ns)
    if of_all_ns <= median_ns:
        return [0.0] * len(works)
    differing_ns = [mean_ns(stretch, noise_ns) for stretch in _stretches(works) for _ in stretch]
    middle_ns = statistics.median(
        one.sample_ns + differing for one, differing in zip(works, differing_ns, strict=True)
    )
    return [max(of_all_ns + differing - middle_ns, 0.0) for differing in differing_ns]


def costly_calls_note(spec: str, plain_ns: Sequence[float], counted: Sequence[float]) -> str | None:
    """What to tell of a workload whose median counts clearly more than its median call took."""
    median_ns, counts_ns = statistics.median(plain_ns), statistics.median(counted)
    if counts_ns < _TOLD * median_ns:
        return None
    return (
        f"{spec}: the median call took {median_ns / 1e3:.1f} us, but a few did much more, and the "
        f"mean of all counts: {counts_ns / 1e3:.1f} us."
    )


def counted_ns(windows: Sequence[Window], baseline: CallBaseline, calls: int = 1) -> list[float]:
    """What each of a kernel's windows counts, by call: how long one took, with its part of what
    others did for it. Each window holds so many calls. On a GPU calls count as long as they took:
    the processor only waits for them, and nothing shows which of their times are work."""
    return [one_ns / calls for one_ns in _counted_ns(_works(windows, baseline), baseline)]


@dataclass(frozen=True)
class Counted:
    """What the windows of a kernel's processes count, in ns. Also those that were repeated are in
    the mean: else a kernel could have the work of others done in calls that wait."""

    of_each: Sequence[Sequence[float]]
    """By process."""
    least_ns: float
    """The mean, below which no median is."""

    def samples_ns(self, places: Sequence[Sequence[int]], calls: int) -> list[float]:
        """The samples, of which these are the windows, by process; in turns."""
        pairs = zip(self.of_each, places, strict=True)
        found = interleaved([[ns[at] for at in mine] for ns, mine in pairs])
        if not found:
            return []
        lack_ns = max(self.least_ns - statistics.median(found), 0.0)
        return [(one + lack_ns) / calls for one in found]


def counted_of(of_each: Sequence[Sequence[Window]], baseline: CallBaseline) -> Counted:
    """What all windows of a kernel's processes count."""
    order = interleaved(
        [[(number, at) for at in range(len(mine))] for number, mine in enumerate(of_each)]
    )
    windows = [of_each[number][at] for number, at in order]
    works = _works(windows, baseline)
    found = [list[float]() for _ in of_each]
    for (number, _), one_ns in zip(order, _counted_ns(works, baseline), strict=True):
        found[number].append(one_ns)
    return Counted(found, 0.0 if baseline.on_gpu else mean_ns(works, baseline.noise_ns))


def _counted_ns(works: Sequence[WindowWork], baseline: CallBaseline) -> list[float]:
    """What each window counts, for all of its calls together."""
    if baseline.on_gpu:
        return [one.sample_ns for one in works]
    carried = carried_ns(works, baseline.noise_ns)
    return [one.sample_ns + more for one, more in zip(works, carried, strict=True)]


def _works(windows: Sequence[Window], baseline: CallBaseline) -> list[WindowWork]:
    helpers_ns = _DOUBT * statistics.median(map(_helpers_ns, windows)) + _HELPERS_NS
    return [WindowWork.from_window(window, baseline, helpers_ns) for window in windows]


def _computed_ns(window: Window, baseline: CallBaseline) -> float:
    """For how long the call's threads computed, one of them or several at once: no wait for a
    processor that others had is in it, and all work is, also that of one helper alone."""
    of_all_ns = window.call_tree_cpu_ns - baseline.usual.tree_cpu_ns * window.processors
    begins_ns = 0.0 if window.described else baseline.usual.took_ns
    took_ns = window.bracket_ns - window.waiting_ns - begins_ns
    return max(baseline.usual.computed_ns(window), min(took_ns, of_all_ns), 0.0)


def _outside_ns(window: Window, baseline: CallBaseline, helpers_ns: float) -> float:
    """How much was used before and after a call beyond what may be: by the main thread, for each of
    what the medians of calls are bounded by, and by all others."""
    *of_main, _awake = baseline.beside_calls()
    main_ns = sum(max(seen(window) - explained_ns, 0.0) for _, _, seen, explained_ns in of_main)
    return main_ns + max(_helpers_ns(window) - helpers_ns, 0.0)


def _helpers_ns(window: Window) -> float:
    """Processor time before and after the call of all threads but the main one."""
    main_ns = window.build_cpu_ns + window.still_cpu_ns + window.after_cpu_ns
    return float(max(window.outside_tree_cpu_ns - main_ns, 0))


def _stretches(works: Sequence[WindowWork]) -> Iterator[Sequence[WindowWork]]:
    """Stretches of about equal length, one after another; one if there are too few for more."""
    count = min(_STRETCHES, len(works) // _FEWEST_IN_A_STRETCH) or 1
    ends = [math.ceil(len(works) * (at + 1) / count) for at in range(count)]
    for start, end in zip([0, *ends], ends, strict=False):
        yield works[start:end]
