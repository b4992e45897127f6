"""What a measurement refuses for, and whom it blames."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.judge.measuring.timed_runner import Samples
from kernelbot.harness.timing.plausibility import Contradiction
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.windows import Window
from kernelbot.protocol import Case, Verdict
from kernelbot.protocol.scoring import FEWEST_FOR_AN_INTERVAL


def refuse_disputably(found: Contradiction | None) -> None:
    """Raise `AuthorFailure` if something was found; it takes two measurements to refuse."""
    if found is not None:
        refused = AuthorFailure(Verdict.RULE_VIOLATION, found.message, found.evidence)
        refused.disputable = True
        raise refused


@dataclass(frozen=True)
class SamplingTime:
    """Where the seconds of sampling a workload went."""

    author_s: float
    """To the author's kernel; of a duel's authors to the slower one's in all of the phase, loading
    included: else one could take the phase's time for that, and the problem would seem too slow."""
    waited_s: float
    """To other programs, which had its processor while it was called."""
    others_s: float
    """To data, checks and caches."""


def too_few(
    case: Case, count: int, took_s: float, taken: Sequence[Samples]
) -> AuthorFailure | ProblemBroken:
    """The failure of a workload of which `took_s` gave `count` samples."""
    runners_s = sum(one.runner_s for one in taken)
    slowest = max((one.runner.author for one in taken), key=lambda author: author.spent_s)
    is_duel = any(one.runner.author is not slowest for one in taken)
    waited_s = sum(one.waited_s for one in taken if one.runner.author is slowest)
    author_s = (slowest.spent_s if is_duel else runners_s) - waited_s
    failure = blame_for_too_few(
        f"Too few samples: {count} of {case.spec} in {took_s:.1f} s, but a score needs "
        f"{FEWEST_FOR_AN_INTERVAL} within the phase's time limit.",
        SamplingTime(author_s, waited_s, took_s - runners_s),
    )
    if isinstance(failure, AuthorFailure):
        failure.of_opponent = slowest.is_opponent
    return failure


def blame_for_too_few(message: str, spent: SamplingTime) -> AuthorFailure | ProblemBroken:
    """Blames what took most of the time; nobody if that was waiting for others."""
    if spent.author_s >= max(spent.waited_s, spent.others_s):
        return AuthorFailure(Verdict.TIME_LIMIT, f"{message} Do less in each call.")
    if spent.waited_s > spent.others_s:
        return ProblemBroken(
            f"{message} The machine was busy: {spent.waited_s:.1f} s of it calls waited for a "
            "processor that other programs had, which is nobody's fault. Submit it again later."
        )
    return ProblemBroken(
        f"{message} Making data, checks and caches took {spent.others_s:.1f} s of it, with what "
        "they waited for a processor."
    )


def added_s(samples_ns: list[float], windows: list[Window], calls: int) -> float:
    """How much the judge's clocks added to the claims, in seconds, at the median."""
    claimed_ns = statistics.median(window.claim_ns for window in windows) / calls
    return max(statistics.median(samples_ns) - claimed_ns, 0.0) / 1e9
