"""How fast a problem's least work could be done on a device, by its two peaks."""

from collections.abc import Collection
from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.protocol import DeviceSpec, NumberType, ProblemSpec
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class RooflineWork:
    """What must be done in the time that a score is: both above 0."""

    flops: float
    memory_bytes: float
    number_type: NumberType | None = None
    """The type of number in the operations; None: whatever, or several."""

    @property
    def intensity(self) -> float:
        """Operations for each byte of memory."""
        return self.flops / self.memory_bytes


@dataclass(frozen=True)
class Roof:
    """The limits of a device: operations per second, bytes per second."""

    peak_flops: float
    peak_bytes_per_s: float

    def flops_per_s(self, intensity: float) -> float:
        """The most that is possible with so many operations for each byte."""
        return min(self.peak_flops, intensity * self.peak_bytes_per_s)

    def least_s(self, work: RooflineWork) -> float:
        """The shortest time in which the work can be done."""
        return work.flops / self.flops_per_s(work.intensity)


@dataclass(frozen=True)
class RooflineLimit:
    """What a device could do at best, and how much of that a score reached."""

    is_memory: bool = field(
        metadata=described("Memory bandwidth is the limit; else arithmetic is.")
    )
    share: float = field(metadata=described("How much of the limit was reached: 1 is all of it."))
    at_least_s: float = field(metadata=described("In less no kernel can do the work."))


def limit_of(
    score_s: float | None,
    timed: Collection[str],
    problem: ProblemSpec | None,
    device: DeviceSpec | None,
) -> RooflineLimit | None:
    """The limit of a score. `timed`: the workloads that it is of. None if operations, bytes or the
    device's peaks aren't known, or the problem no longer has all of these workloads."""
    if problem is None or not score_s or not timed:
        return None
    if not set(timed) <= {case.spec for case in problem.benchmarks}:
        return None
    work = work_of(problem)
    roof = roof_of(device, work)
    if work is None or roof is None:
        return None
    is_memory = work.intensity * roof.peak_bytes_per_s < roof.peak_flops
    least_s = roof.least_s(work)
    return RooflineLimit(is_memory, least_s / score_s, least_s)


def work_of(spec: ProblemSpec) -> RooflineWork | None:
    """The work of the workloads put together as their times are put together in the score: the
    last one's, the means, or the geometric means. None if the problem doesn't give operations and
    bytes of all that count."""
    floors = spec.floors[-1:] if spec.ranking_by.only_last else spec.floors
    known = [
        (floor.flops, floor.memory_bytes, floor.number_type)
        for floor in floors
        if floor and floor.flops and floor.memory_bytes
    ]
    if not known or len(known) < len(floors):
        return None
    mean = spec.ranking_by.combine
    flops, memory_bytes, kinds = zip(*known, strict=True)
    kind = kinds[0] if len(set(kinds)) == 1 else None
    return RooflineWork(mean(flops), mean(memory_bytes), kind)


def roof_of(device: DeviceSpec | None, work: RooflineWork | None) -> Roof | None:
    """A device's limits for the work; None if they aren't configured."""
    if device is None or work is None:
        return None
    peak = device.most_flops(work.number_type)
    if not peak or not device.peak_bytes_per_s:
        return None
    return Roof(peak, device.peak_bytes_per_s)
