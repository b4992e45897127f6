"""What making data and checking outputs costs, beside the calls that are timed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from kernelbot.harness.judge.measuring.rounds import Line, Rounds
from kernelbot.harness.judge.problem.examiner import CagedQuestion
from kernelbot.harness.words.windows import Reply
from kernelbot.protocol import Case

QUICK_S = 0.25
"""What takes longer is done once to learn how long it takes."""
_LOOKS = 3


@dataclass(frozen=True)
class JudgeCost:
    """What something costs the judge and the problem's processes, in seconds."""

    took_s: float
    computed_s: float
    """The processor time of that."""

    def or_less(self, other: "JudgeCost | None") -> "JudgeCost":
        """The less of both, each for itself; of None, this."""
        if other is None:
            return self
        return JudgeCost(min(self.took_s, other.took_s), min(self.computed_s, other.computed_s))


def least_cost(work: Callable[[], object], computed_ns: Callable[[], int]) -> JudgeCost:
    """What it costs at least: the least of a few times, since one may wait, or find all it needs
    cold. `computed_ns`: the processor time so far of all that works on it."""
    began = time.monotonic()
    least = _cost(work, computed_ns)
    for _ in range(_LOOKS - 1):
        if time.monotonic() - began >= QUICK_S:
            break
        least = _cost(work, computed_ns).or_less(least)
    return least


def cost_of_checks(
    rounds: Rounds, case: Case, line: Line, question: CagedQuestion, replies: Sequence[Reply]
) -> JudgeCost:
    """What it costs to check the dearest of a round's outputs; all are checked, once, as a problem
    may do to its data what it likes meanwhile. Raises `AuthorFailure`."""
    costs = [
        _cost(partial(rounds.check, case, one.runner, question, reply.value), rounds.computed_ns)
        for one, reply in zip(line, replies, strict=True)
    ]
    return JudgeCost(max(cost.took_s for cost in costs), max(cost.computed_s for cost in costs))


def _cost(work: Callable[[], object], computed_ns: Callable[[], int]) -> JudgeCost:
    start, before_ns = time.monotonic(), computed_ns()
    work()
    took_s = time.monotonic() - start
    return JudgeCost(took_s, (computed_ns() - before_ns) / 1e9)
