"""When a measurement is good enough: once the interval of its median is narrow."""

import math
import statistics
from dataclasses import dataclass, field
from enum import StrEnum

from kernelbot.protocol import SamplingRules
from kernelbot.protocol.scoring import (
    FEWEST_FOR_AN_INTERVAL,
    RESOLUTION_NS,
    is_too_wide,
    least_width,
    process_interval,
)

_HARDLY_WIDER = 1.25
"""An interval that is wider than it must stay by no more than this factor isn't worth more time."""
_TIMES = 3
"""So many times as long as usual at most a workload has whose interval is too wide to be ranked: as
two further measurements would take, of which each would load and warm up everything again."""
_NEXT_LOOK = 1.25
"""Whether it is still too wide is looked at after so many times as long: to look after each turn
would stop where it is narrow by chance."""


class StoppedBy(StrEnum):
    """Why sampling ended."""

    PRECISION = "precision"
    MAX_SAMPLES = "max_samples"
    WALL_CAP = "wall_cap"
    PROCESSES = "processes"
    """The kernel's processes differ by more than further samples of them could even out."""
    DISPUTE = "dispute"
    """The attempt ended meanwhile, and another one followed."""


@dataclass
class StoppingRule:
    """Collects samples of one workload and says when there are enough.

    Usually a sample is a time, and its median is wanted precisely. In a duel a sample is a pair of
    calls: their times together, and their ratio, whose median is wanted. Several processes are
    sampled in turn, and a decision is asked for after whole turns, or at the maximum.

    If an interval is still too wide to be ranked at `wall_cap_s`, sampling goes on for up to three
    times as long, since the platform would have all of it measured again.

    `longest_s` ends it even below `min_samples`, and `limit_s` even below what an interval needs,
    but only once the judge's own time plus a median call for each sample exceeds it: so nobody gets
    fewer samples by sleeping in some calls, or between them. `wall_s` passed to `decide` is
    the time spent on the workload so far, including generation of data, flushing and checking;
    `judge_s` is the judge's own part of it.
    """

    rules: SamplingRules
    longest_s: float
    limit_s: float
    samples_ns: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    """Those whose median is wanted."""
    processes: int = 1
    is_ranked: bool = False
    """Whether a score is made of it that would be measured again if its interval is too wide. Then
    sampling goes on instead, if that can help."""
    _look_s: float = 0.0
    """When the width is looked at next; 0: as soon as `wall_cap_s` is over."""
    _end_s: float = 0.0
    """When it ends, however wide; 0: that isn't known yet."""

    def add(self, sample_ns: float, value: float | None = None) -> None:
        """Add a sample. `value`: what is wanted of it; None: its time."""
        self.samples_ns.append(sample_ns)
        self.values.append(sample_ns if value is None else value)

    @property
    def too_few(self) -> bool:
        """Whether no interval can be had from the samples so far: they are no score."""
        return len(self.samples_ns) < min(FEWEST_FOR_AN_INTERVAL, self.rules.min_samples)

    def has_time_to_repeat(self, wall_s: float) -> bool:
        """Whether there will be `min_samples` in time if each of them costs as much as those so far
        and one more call: samples matter more than that none had to wait."""
        return wall_s / (len(self.samples_ns) + 1) * self.rules.min_samples < self.longest_s

    def decide(self, wall_s: float, judge_s: float) -> StoppedBy | None:
        """Why to stop, None to go on. Precision is tested only after whole blocks, since testing
        after every sample would stop by chance."""
        count = len(self.samples_ns)
        if count >= self.rules.max_samples:
            return StoppedBy.MAX_SAMPLES
        if count < self.rules.min_samples:
            return self._decide_early(judge_s)
        if self._is_over(wall_s):
            return StoppedBy.WALL_CAP
        turns = math.ceil(self.rules.block / self.processes)
        if count % (turns * self.processes):
            return None
        if sum(self.samples_ns) < self.rules.min_total_s * 1e9:
            return None
        return self._decide_by_width()

    def _is_over(self, wall_s: float) -> bool:
        """Whether the time for the workload is."""
        if wall_s >= self.longest_s:
            return True
        if wall_s < max(self.rules.wall_cap_s, self._look_s):
            return False
        self._end_s = self._end_s or _TIMES * wall_s
        self._look_s = min(_NEXT_LOOK * wall_s, self._end_s)
        return not self.is_ranked or wall_s >= self._end_s or not self._may_become_narrow()

    def _may_become_narrow(self) -> bool:
        """Whether the interval is too wide to be ranked, and neither by what processes differ nor
        by how the machine's speed changes: then another minute is a better remedy."""
        middle, ends = statistics.median(self.values), process_interval(self.values, self.processes)
        least = least_width(self.values, self.processes, of_moments=True)
        width = self.rules.widest_relative_ci
        return is_too_wide(middle, ends, RESOLUTION_NS, width / 2) and least <= width

    def _decide_by_width(self) -> StoppedBy | None:
        low, high = process_interval(self.values, self.processes)
        middle, target = statistics.median(self.values), self.rules.target_relative_ci
        if high - low <= target * middle:
            return StoppedBy.PRECISION
        least = least_width(self.values, self.processes)
        hopeless = least > target and high - low <= _HARDLY_WIDER * least * middle
        return StoppedBy.PROCESSES if hopeless else None

    def _decide_early(self, judge_s: float) -> StoppedBy | None:
        """The decision while there are fewer than `min_samples`."""
        if not self.samples_ns:
            return None
        count = len(self.samples_ns)
        spent_s = judge_s + statistics.median(self.samples_ns) * count / 1e9
        if self.too_few:  # one more turn must not end beyond it
            enough = spent_s * (count + self.processes) / count > self.limit_s
        else:
            enough = spent_s >= self.longest_s
        return StoppedBy.WALL_CAP if enough else None
