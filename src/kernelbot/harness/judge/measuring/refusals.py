"""What a measurement refuses for, and whom it blames."""

import statistics
from collections.abc import Sequence

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


def too_few(
    case: Case, count: int, took_s: float, taken: Sequence[Samples]
) -> AuthorFailure | ProblemBroken:
    """Blames whoever took most of the time. Of a duel's authors loading counts too, if it takes the
    phase's time: else one could take all of it for that, and the problem would seem too slow."""
    message = (
        f"Too few samples: {count} of {case.spec} in {took_s:.1f} s, but a score needs "
        f"{FEWEST_FOR_AN_INTERVAL} within the phase's time limit."
    )
    runners_s = sum(one.runner_s for one in taken)
    others_s = took_s - runners_s
    slowest = max((one.runner.author for one in taken), key=lambda author: author.spent_s)
    if (runners_s if len(taken) == 1 else slowest.spent_s) < others_s:
        others = f"Making data, checks and caches took {others_s:.1f} s of it."
        return ProblemBroken(f"{message} {others}")
    failure = AuthorFailure(Verdict.TIME_LIMIT, f"{message} Do less in each call.")
    failure.of_opponent = slowest.is_opponent
    return failure


def added_s(samples_ns: list[float], windows: list[Window], calls: int) -> float:
    """How much the judge's clocks added to the claims, in seconds, at the median."""
    claimed_ns = statistics.median(window.claim_ns for window in windows) / calls
    return max(statistics.median(samples_ns) - claimed_ns, 0.0) / 1e9
