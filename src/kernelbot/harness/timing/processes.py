"""How many processes of a kernel are timed, and in which order.

What differs from one process to the next (where its code and data lie, which memory it was given)
is the same for all calls of one. So a workload is sampled in several processes of the same kernel,
in turns: a turn is one call of each, in random order, and whichever isn't called is frozen.

Further processes cost loading, calls for warming up, and memory. Three are worth more than more
than three, so they may cost more; two are worth nothing, as their interval would be six times as
wide as that of three.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from kernelbot.harness.words.plan import Plan

T = TypeVar("T")
FEWEST = 3
FEWEST_OF_EACH = 2
"""Samples of each process."""
FEWEST_WARM = 2
"""Windows of each process that don't become samples: the first one shows where the output is."""
FEWEST_WARM_CALLS = 8
"""Calls of each further process in such windows, if they hold several: after so many Python has
adapted a function's code."""
_SHARE_OF_FEWEST = 0.1
"""The part of all time that loading and warming three processes may take."""
_SHARE_OF_MORE = 0.02
"""The same for more than three."""


@dataclass(frozen=True)
class Cost:
    """What the first process of a kernel has cost: the same will be spent on each further one.
    `shared_s`: once for all of those."""

    seconds: float
    memory_bytes: int = 0
    shared_s: float = 0.0


def wanted(plan: Plan) -> int:
    """How many processes time each kernel of a job. As many in all in a duel as otherwise, so that
    nobody can tell by how long it stands still that it is in one.

    One on a GPU, whose memory isn't enough for several contexts with the data of each, and of
    several ranks, who would be as many times the processes.
    """
    if plan.on_gpu or plan.has_ranks:
        return 1
    rules = plan.job.sampling
    most = rules.processes // 2 if plan.is_duel else rules.processes
    most = min(most, rules.max_samples // FEWEST_OF_EACH)
    return most if most >= FEWEST else 1


def affordable(most: int, cost: Cost, budget_s: float, memory_bytes: int) -> int:
    """How many there may be at once: those that are there, at most `most`, included.

    `budget_s`: the time that there is for everything. `memory_bytes`: what one process may use, and
    so what all of them together may.
    """
    cheap = 1 + int(min(_further(_SHARE_OF_MORE * budget_s, cost), most))
    dear = 1 + int(min(_further(_SHARE_OF_FEWEST * budget_s, cost), FEWEST - 1))
    fitting = memory_bytes // max(cost.memory_bytes, 1)
    found = min(max(cheap, dear), fitting, most)
    return found if found >= FEWEST else 1


def _further(within_s: float, cost: Cost) -> float:
    """How many further ones there may be if all of them may cost so much."""
    return max(within_s - cost.shared_s, 0.0) / max(cost.seconds, 1e-9)


def interleaved(of_each: Sequence[Sequence[T]]) -> list[T]:
    """The first of each, then the second of each, and so on: sample i is of process i modulo their
    number. Each has as many as the one after it, or one more."""
    longest = max(map(len, of_each), default=0)
    return [one[turn] for turn in range(longest) for one in of_each if turn < len(one)]
