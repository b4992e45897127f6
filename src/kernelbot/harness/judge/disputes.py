"""Second attempts: who may have one, that everybody is told of it, and what the first still counts
for.

An end that rests on clocks alone, or on a signal that anybody can send, may be a busy machine's
doing, so it takes two to refuse. It may as well be the author's, who doesn't like how the
measurement goes. So each side has one second attempt in a job, the result says so, and of each
workload that was measured twice the worse measurement counts.
"""

import statistics
from collections.abc import Mapping

from kernelbot.harness.judge.measuring.measurement import Measurement
from kernelbot.harness.words.failures import AuthorFailure, more_time_s
from kernelbot.protocol import Phase
from kernelbot.protocol.phases import TIMED
from kernelbot.protocol.ratios import ratio_of


class Disputes:
    """The disputes of one job."""

    def __init__(self) -> None:
        self._sides: set[bool] = set()
        self._by_opponent = False
        self._first: Mapping[int, Measurement] = {}
        """What the first attempt measured, by workload, if a step is judged again."""
        self.extra_s = 0.0
        """How much time this attempt has beyond the step's limit, since others had used up that of
        the first one. In timed phases there is none: they have the time of many calls."""

    def begin_step(self) -> None:
        """A step begins: nothing of it was measured before."""
        self._first, self.extra_s = {}, 0.0

    def keep(self, first: Mapping[int, Measurement]) -> None:
        """What an attempt has measured that may be disputed, unfinished workloads included."""
        self._first = first

    def allow(self, phase: Phase, error: AuthorFailure) -> str | None:
        """Grant a second attempt; the note that tells of it. None if that side had its own in this
        job."""
        if error.of_opponent in self._sides:
            return None
        self._sides.add(error.of_opponent)
        self._by_opponent = error.of_opponent
        self.extra_s = 0.0 if phase in TIMED else more_time_s(error)
        whose = "the opponent's" if error.of_opponent else "the submission's"
        note = f"The {phase} phase was judged twice; {whose} first attempt ended: {error.message}"
        if not self._first:
            return note
        return f"{note} Of what was measured twice, the worse counts."

    def worse(self, index: int, second: Measurement) -> Measurement:
        """That of a workload's two measurements which is the worse one for whoever disputed."""
        first = self._first.get(index)
        if first is None:
            return second
        pair = (second, first)
        return min(pair, key=_value) if self._by_opponent else max(pair, key=_value)


def _value(measured: Measurement) -> float:
    """Better for the submission the smaller it is: its time, or in a duel the ratio of both."""
    if len(measured.times) == 1:
        return measured.median_ns
    mine, theirs = (times.samples_ns for times in measured.times)
    return statistics.median(map(ratio_of, mine, theirs))
