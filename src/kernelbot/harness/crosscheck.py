"""Does the time a runner claims fit what the kernel counted for it?

Judged by processor time rather than by the wall, so that a busy machine accuses nobody: a thread
that computes is charged for it, whatever it tells, and one that must be still is charged nothing.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelbot.harness.session import Window
from kernelbot.protocol import DeviceSpec, Floor

_SLACK = 1.25
"""How much dearer than an empty call the harness's own part of a call may be."""
_SLACK_NS = 20_000
_DOUBT = 2.0
"""Times as much as is explained must be seen before anybody is accused. A kernel leaves colder
caches behind than an empty call, and a neighbour makes both dearer; what lies between is not lost,
because `bounded_ns` charges it to the call."""
_STILL_NS = 30_000
_WAIT_SLACK = 2.0
_WAIT_SLACK_NS = 400_000
_CLAIM_SHARE = 0.05


@dataclass(frozen=True)
class Contradiction:
    """A sentence, and the numbers behind it."""

    message: str
    evidence: str


def below_floor(floor: Floor | None, device: DeviceSpec, median_ns: float) -> Contradiction | None:
    """Whether a time is less than the device can need for the work the problem names.

    The floor is the larger of flops over peak flops and bytes over peak bandwidth; what isn't
    configured doesn't count.
    """
    floor_s = 0.0
    if floor is not None and floor.flops and device.peak_flops:
        floor_s = floor.flops / device.peak_flops
    if floor is not None and floor.memory_bytes and device.peak_bytes_per_s:
        floor_s = max(floor_s, floor.memory_bytes / device.peak_bytes_per_s)
    floor_ns = max(floor_s * 1e9, device.launch_overhead_ns or 0.0)
    if median_ns >= floor_ns:
        return None
    return Contradiction(
        "The time is below what this device can need for the work the problem asks for.",
        f"median {median_ns / 1e3:.3f} us, floor {floor_ns / 1e3:.3f} us",
    )


@dataclass(frozen=True)
class Baseline:
    """The harness's own costs around a call, in ns, from empty calls on the same runner."""

    build_cpu_ns: float
    excess_cpu_ns: float
    """Processor time of the main thread beyond the claim: copying the output, the message."""
    wait_ns: float
    """Wall time beyond the claim that is not explained by waiting for a processor."""
    output_bytes: int
    """What those calls returned."""

    @classmethod
    def of(cls, windows: Sequence[Window], output_bytes: int) -> "Baseline":
        """Medians of a few empty calls; of the wall, which is noisy, the longest."""
        return cls(
            _median(windows, lambda window: window.build_cpu_ns),
            _median(windows, _excess_ns),
            max(map(_wait_ns, windows)),
            output_bytes,
        )

    def bounded_ns(self, window: Window, output_bytes: int) -> float:
        """The claim, but never less than the processor time that surely belongs to the call."""
        surely = window.call_cpu_ns - self._allowed_excess_ns(output_bytes)
        return max(float(window.claim_ns), surely)

    def contradiction(self, windows: Sequence[Window], output_bytes: int) -> Contradiction | None:
        """What the judge's clocks have against the claims; None when nothing."""
        claim = _median(windows, lambda window: window.claim_ns)
        if claim <= 0 or any(w.claim_ns > w.bracket_ns for w in windows):
            return Contradiction(
                "A claimed time is impossible: not positive, or longer than the call took.",
                f"median claim {claim:.0f} ns",
            )
        checks = (
            ("work before the call, while the inputs were made", self._build(windows)),
            ("work while it had to wait for the call", (_still(windows), _STILL_NS)),
            (
                "more processor time in the call than the time it claims",
                (
                    _median(windows, _excess_ns),
                    _DOUBT * self._allowed_excess_ns(output_bytes) + _CLAIM_SHARE * claim,
                ),
            ),
            (
                "a call that took longer than the time it claims",
                (_median(windows, _wait_ns), self._allowed_wait_ns(claim)),
            ),
        )
        for what, (seen, allowed) in checks:
            if seen > allowed:
                return Contradiction(
                    f"The clocks contradict the submission: {what}.",
                    f"seen {seen / 1e3:.1f} us, explained {allowed / 1e3:.1f} us, "
                    f"claimed {claim / 1e3:.1f} us (medians of {len(windows)} calls)",
                )
        return None

    def _build(self, windows: Sequence[Window]) -> tuple[float, float]:
        seen = _median(windows, lambda window: window.build_cpu_ns)
        claim = _median(windows, lambda window: window.claim_ns)
        explained = self.build_cpu_ns * _SLACK + _SLACK_NS
        return seen, _DOUBT * explained + _CLAIM_SHARE * claim

    def _allowed_excess_ns(self, output_bytes: int) -> float:
        larger = max(1.0, output_bytes / max(self.output_bytes, 1))
        return self.excess_cpu_ns * _SLACK * larger + _SLACK_NS

    def _allowed_wait_ns(self, claim_ns: float) -> float:
        return self.wait_ns * _WAIT_SLACK + _WAIT_SLACK_NS + _CLAIM_SHARE * claim_ns


def _median(windows: Sequence[Window], what: Callable[[Window], float]) -> float:
    return statistics.median(map(what, windows))


def _excess_ns(window: Window) -> float:
    return window.call_cpu_ns - window.claim_ns


def _wait_ns(window: Window) -> float:
    return window.bracket_ns - window.claim_ns - window.waiting_ns


def _still(windows: Sequence[Window]) -> float:
    return _median(windows, lambda window: window.still_cpu_ns)
