"""Does the time that a runner claims fit the processor time that it used?

Processor time is compared rather than wall-clock time, so that a busy machine accuses nobody: the
operating system counts it for every thread that computes, whatever the runner says, and counts none
for a thread that waits.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kernelbot.harness.timing.quantiles import interquartile_ns, quantile
from kernelbot.harness.words.windows import Window
from kernelbot.protocol import DeviceSpec, Floor

_MOST = 0.9
"""Quantile of the other kernel's calls in a duel, beyond which a call isn't like them."""
_DOUBT = 2.0
"""Work before a call is a contradiction only above twice the 95 % quantile of control calls."""
_DOUBT_NS = 100_000
_DOUBT_WALL_NS = 1_000_000
_CLAIM_SHARE = 0.1
"""A median that differs by less than all of this is no contradiction: the clocks' times count."""
_FEWEST_TO_SUSPECT = 20
_STEADY_SHARE = 0.1
_LACK_NS = 20_000
_WOKEN_NS = 50_000
_LINGERING_NS = 200_000
"""Contexts take turns on a GPU: what another one left running costs a call a millisecond or two."""
_LINGERING_SHARE = 0.3
"""The share of the control calls after one kernel's calls that may be slower than nine tenths of
those after the other's."""
_CLOCK_DRIFT = 2e-4
"""How far a GPU's clock may drift beside the machine's: some tens of millionths are usual."""
_SHORTEST_NS = 1_000
"""A GPU's events tell no shorter times apart."""
_FEWEST = 5
"""With fewer calls nothing counts as a contradiction."""


_Charge = tuple[str, str, Callable[[Window], float], float]
"""A possible contradiction: in words, what to do about it, the value of one call, and the allowed
value."""
_BEFORE = (
    "Do all work of a call within custom_kernel, and let helper threads wait for it asleep (e.g. "
    "OMP_WAIT_POLICY=passive)."
)
_AFTER = (
    "End or join what custom_kernel has started before it returns, and return arrays rather than "
    "objects that compute when they are read."
)
_WITHIN = (
    "Let custom_kernel return only once all of its work is done, and leave the clocks of its "
    "process alone."
)


@dataclass(frozen=True)
class Contradiction:
    """What was seen and what to do about it, and the numbers behind it."""

    message: str
    evidence: str


def below_floor(
    floor: Floor | None, device: DeviceSpec, median_ns: float, launch_ns: float = 0.0
) -> Contradiction | None:
    """Whether a time is less than the device needs for the work that the problem states.

    `launch_ns`: what of it was subtracted for launching.

    The floor is the larger of flops over peak flops and bytes over peak bandwidth; a peak that
    isn't configured is ignored. What the device's cache holds need not come from memory: of the
    bytes only those beyond it count.
    """
    floor_s = 0.0
    if floor is not None and floor.flops and (peak := device.most_flops(floor.number_type)):
        floor_s = floor.flops / peak
    if floor is not None and floor.memory_bytes and device.peak_bytes_per_s:
        beyond_bytes = max(floor.memory_bytes - (device.cache_bytes or 0), 0)
        floor_s = max(floor_s, beyond_bytes / device.peak_bytes_per_s)
    floor_ns = max(floor_s * 1e9, (device.launch_overhead_ns or 0.0) - launch_ns)
    if median_ns >= floor_ns:
        return None
    return Contradiction(
        "The time is below the minimum that this device needs for the problem's work. Compute "
        "all of the output from the call's own inputs; if you do, tell the problem's author.",
        f"median {median_ns / 1e3:.3f} us, floor {floor_ns / 1e3:.3f} us",
    )


def disturbance(
    idle_cpu_ns: float, after_ns: Sequence[float], after_other_ns: Sequence[float]
) -> Contradiction | None:
    """Whether a kernel of a duel worked while the other one was timed; None if it didn't.

    `idle_cpu_ns`: the processor time that its runner used for each pair of calls while it had to be
    frozen: none, unless it undid that. `after_ns`, `after_other_ns`: on a GPU, how long control
    calls took directly after its calls, and after those of the other one.
    """
    if idle_cpu_ns > _WOKEN_NS:
        return Contradiction(
            "It computed while it had to be still, as the other kernel was timed. Join or put "
            "to sleep whatever custom_kernel has started before it returns.",
            f"{idle_cpu_ns / 1e3:.0f} us of processor time for each pair of calls",
        )
    if min(len(after_ns), len(after_other_ns)) < _FEWEST_TO_SUSPECT:
        return None
    allowed_ns = quantile(sorted(after_other_ns), _MOST) + _LINGERING_NS
    share = sum(after > allowed_ns for after in after_ns) / len(after_ns)
    if share <= _LINGERING_SHARE:
        return None
    return Contradiction(
        "It left work running on the GPU, which slows down the other kernel. Wait for the GPU "
        "before custom_kernel returns.",
        f"{share:.0%} of the calls after its own took longer than {allowed_ns / 1e3:.0f} us",
    )


@dataclass(frozen=True)
class Overhead:
    """What of a window isn't the author's work, in ns."""

    took_ns: float
    """Part of the judge's bracket around the call."""
    main_cpu_ns: float
    """Part of the main thread's processor time."""
    tree_cpu_ns: float
    """Part of the whole tree's processor time, per processor: several ranks share it."""

    def computed_ns(self, window: Window) -> float:
        """The least time for the processor time of all threads, also if the main thread slept."""
        alone_ns = window.call_cpu_ns - self.main_cpu_ns
        return max(alone_ns, window.shared_cpu_ns - self.tree_cpu_ns)


@dataclass(frozen=True)
class CallBaseline:
    """The overhead of a call, as measured in the control runner, without any author's code."""

    usual: Overhead
    """The median control call, which is the cheapest answer that there is: this is subtracted, so
    an honest answer is read as long as it took. Not what control calls waited."""
    least: Overhead
    """The cheapest control calls: by this a call's contradictions are told. On a GPU nearly the
    dearest, with all that they waited: a busy machine accuses nobody."""
    build_cpu_ns: float
    """Processor time before the call, while its inputs are made: the 95 % quantile of the control
    calls."""
    still_cpu_ns: float
    """The same for the time while the runner must wait for the call."""
    spread_ns: float
    """Interquartile range of the brackets around the control calls."""
    after_cpu_ns: float = 0.0
    """What `build_cpu_ns` is, for the time after the call until its output is described."""
    outside_ns: float = 0.0
    """What `build_cpu_ns` is, but how long the runner took for both together."""
    cpu_variation_ns: float = 0.0
    """By how much a control call's processor time exceeds the least, at the 95 % quantile. A
    machine that adds as much to calls that do nothing proves nothing with it: the time counts
    (`bounded_ns`), but doesn't accuse."""
    on_gpu: bool = False
    """Whether work may be done by something other than the processor."""
    noise_ns: float = 0.0
    """By how much a control call's processor time exceeds the median, at the mean and with two
    standard errors: what begins and ends any window, by chance."""
    launch_ns: float = 0.0
    """Part of the claim: what launching a kernel that does nothing costs on a GPU."""
    calls_waited: bool = False
    """Whether control calls took longer than they can without waiting, so that of `usual` less is
    subtracted than they took."""
    usual_describing_ns: float = 0.0
    """For how long the description of the cheapest answer computes: the median."""
    took_variation_ns: float = 0.0
    """What `cpu_variation_ns` is, but of how long a control call took. Not every machine tells how
    long a thread had no processor: a job of Slurm's without control groups doesn't, and a virtual
    machine doesn't know when its host gave it none."""

    def bounded_ns(self, window: Window) -> float:
        """The claim, but never less than the time that certainly belongs to the call.

        Waiting for a processor that others had isn't in it. If the call counts until its output was
        described, nothing else is subtracted.
        """
        waited_ns = window.kept_waiting_ns or 0
        if window.described:
            return float(window.bracket_ns - waited_ns)
        late_ns = max(window.late_ns - self.usual_describing_ns, 0.0)
        return late_ns + max(
            self.launched_ns(window),
            window.took_ns - self.usual.took_ns,
            self.usual.computed_ns(window),
        )

    def launched_ns(self, window: Window) -> float:
        """The claim, without waiting for a processor that others had, and without what launching
        costs on a GPU."""
        claim_ns = max(window.claim_ns - (window.kept_waiting_ns or 0), 0)
        return float(max(claim_ns - self.launch_ns, min(claim_ns, _SHORTEST_NS)))

    def has_waited(self, window: Window) -> bool:
        """Whether a call took longer than it claims, which only waiting explains, as control calls
        waited too: the machine is busy, and what is counted is too much. Of systems that count no
        waits."""
        beyond_ns = window.took_ns - window.claim_ns - self.usual.took_ns
        return self.calls_waited and not window.described and beyond_ns > 0

    def contradiction(self, windows: Sequence[Window]) -> Contradiction | None:
        """A clear contradiction between the judge's clocks and the claims; None if there is
        none."""
        claiming = [window for window in windows if not window.described]
        return (
            _impossible(claiming)
            or _exceeded(self.beside_calls(), windows)
            or _exceeded(self._within_calls(), claiming)
        )

    def suspicion(self, windows: Sequence[Window]) -> str | None:
        """Why the claims look invented; None if they don't. No kernel's times vary much less than
        the judge's own clock shows for the same calls, and are far below it at the same time.
        """
        windows = [window for window in windows if not window.described]
        if len(windows) < _FEWEST_TO_SUSPECT:
            return None
        claims_ns = interquartile_ns(sorted(window.claim_ns for window in windows))
        lack_ns = statistics.median(map(self._lack_ns, windows))
        spread_ns = interquartile_ns(sorted(window.took_ns for window in windows))
        if not self.on_gpu:
            # A busy machine takes time from a call, but the thread that makes its claims computes
            # no more. Nor do they tell of other processes of the author's, such as one that starts
            # in the first calls; those count, and may contradict them.
            computed_ns = interquartile_ns(sorted(window.call_cpu_ns for window in windows))
            spread_ns = min(spread_ns, computed_ns)
        steady = claims_ns < _STEADY_SHARE * (spread_ns - 2 * self.spread_ns)
        if not steady or lack_ns < _LACK_NS + self.cpu_variation_ns:
            return None
        return (
            f"the claims' middle half lies within {claims_ns / 1e3:.2f} us, that of the judge's "
            f"clock within {spread_ns / 1e3:.1f} us, and {lack_ns / 1e3:.1f} us were added."
        )

    def beside_calls(self) -> Iterator[_Charge]:
        """The charges of all calls, also if they count until they were described."""
        yield (
            "work before the call, while the inputs were made",
            _BEFORE,
            lambda window: window.build_cpu_ns,
            self.build_cpu_ns * _DOUBT + _DOUBT_NS,
        )
        yield (
            "work while it had to wait for the call",
            _BEFORE,
            lambda window: window.still_cpu_ns,
            self.still_cpu_ns * _DOUBT + _DOUBT_NS,
        )
        yield (
            "work after the call, while its output was described",
            _AFTER,
            lambda window: window.after_cpu_ns,
            self.after_cpu_ns * _DOUBT + _DOUBT_NS,
        )
        yield (
            "time before and after the call that nothing of the harness takes",
            _AFTER,
            lambda window: window.outside_ns,
            self.outside_ns * _DOUBT + _DOUBT_WALL_NS,
        )

    def _within_calls(self) -> Iterator[_Charge]:
        yield (
            "more processor time in the call than the time it claims",
            _WITHIN,
            lambda window: self.least.computed_ns(window) - window.claim_ns,
            _DOUBT_NS + self.cpu_variation_ns,
        )
        yield (
            "a call that took longer than the time it claims",
            _WITHIN,
            lambda window: window.took_ns - self.least.took_ns - window.claim_ns,
            _DOUBT_WALL_NS + self.took_variation_ns,
        )

    def _lack_ns(self, window: Window) -> float:
        """By how much the clocks exceed a claim; below 0 if they don't."""
        seen_ns = max(window.took_ns - self.least.took_ns, self.least.computed_ns(window))
        return seen_ns - window.claim_ns


def _impossible(windows: Sequence[Window]) -> Contradiction | None:
    if not windows:
        return None
    claim_ns = statistics.median(window.claim_ns for window in windows)
    longest = 1 + _CLOCK_DRIFT
    if claim_ns > 0 and all(one.claim_ns <= one.bracket_ns * longest for one in windows):
        return None
    return Contradiction(
        f"A claimed time is impossible: not positive, or longer than the call took. {_WITHIN}",
        f"median claim {claim_ns:.0f} ns",
    )


def _exceeded(charges: Iterable[_Charge], windows: Sequence[Window]) -> Contradiction | None:
    """The first contradiction that the medians of the calls show."""
    if len(windows) < _FEWEST:
        return None
    claim_ns = statistics.median(
        one.bracket_ns if one.described else one.claim_ns for one in windows
    )
    for what, advice, seen, explained_ns in charges:
        seen_ns = statistics.median(map(seen, windows))
        allowed_ns = explained_ns + _CLAIM_SHARE * claim_ns
        if seen_ns > allowed_ns:
            return Contradiction(
                f"The clocks contradict the submission: {what}. {advice}",
                f"seen {seen_ns / 1e3:.1f} us, explained {allowed_ns / 1e3:.1f} us, "
                f"claimed {claim_ns / 1e3:.1f} us (medians of {len(windows)} calls)",
            )
    return None
