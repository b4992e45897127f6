"""How fast a problem's least work could be done on a device, by its two peaks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.protocol import DeviceSpec, Floor, ProblemSpec, RankRule


@dataclass(frozen=True)
class Work:
    """What must be done in the time that a score is: both above 0."""

    flops: float
    memory_bytes: float

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


def work_of(spec: ProblemSpec) -> Work | None:
    """The work of the workloads put together as their times are put together in the score: the
    last one's, the means, or the geometric means. None if the problem doesn't give operations and
    bytes of all that count."""
    floors = spec.floors[-1:] if spec.ranking_by is RankRule.LAST else spec.floors
    known = [floor for floor in floors if floor and floor.flops and floor.memory_bytes]
    if not known or len(known) < len(floors):
        return None
    mean = _geometric_mean if spec.ranking_by is RankRule.GEOM else _mean
    return Work(mean([_flops(one) for one in known]), mean([_bytes(one) for one in known]))


def roof_of(device: DeviceSpec | None) -> Roof | None:
    """A device's limits; None if they aren't configured."""
    if device is None or not device.peak_flops or not device.peak_bytes_per_s:
        return None
    return Roof(device.peak_flops, device.peak_bytes_per_s)


def _flops(floor: Floor) -> float:
    return floor.flops or 0.0


def _bytes(floor: Floor) -> float:
    return floor.memory_bytes or 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))
