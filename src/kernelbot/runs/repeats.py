"""When a ranked run was measured so badly that it is measured again before it is ranked."""

from dataclasses import replace

from kernelbot.protocol import Failure, Fault, RunResult, SamplingRules, Verdict, scoring
from kernelbot.protocol.waits import busy_share, busy_text

MAX_REPEATS = 3
"""How often one run is measured again."""
WHY_REPEATED = "its interval was too wide, or the machine was busy"
REPEATED = f"{WHY_REPEATED}, so it is measured again, alone"
"""For people, after the name of a run, of which only the number of its repeats is known."""


def is_too_wide(
    score_s: float, ci95_s: tuple[float, float], widest: float = scoring.WIDEST
) -> bool:
    """Whether the 95 % interval says so little that the score has to be measured again, by the
    harness's own rule. `widest`: half of the widest one that hasn't to, as a share."""
    return scoring.is_too_wide(score_s, ci95_s, scoring.RESOLUTION_NS / 1e9, widest)


def why_again(result: RunResult, rules: SamplingRules) -> str:
    """Why the score of an accepted run has to be measured again, for people; empty if it hasn't to,
    or if there is none. `rules`: those by which it was measured."""
    if result.score_s is None or result.score_ci95_s is None:
        return ""
    share = busy_share(result)
    if share is not None:
        return f"{busy_text(share)}, so it is measured again, alone"
    widest = rules.widest_relative_ci / 2
    if is_too_wide(result.score_s, result.score_ci95_s, widest):
        return f"its interval is wider than ±{100 * widest:g} %, so it is measured again, alone"
    return ""


def unranked_if_busy(result: RunResult) -> RunResult:
    """What is left of an accepted run that was measured for the last time: what was measured on a
    busy machine isn't ranked, by nobody's fault; else the result itself."""
    share = busy_share(result)
    if share is None:
        return result
    failure = Failure(Fault.PLATFORM, _unranked(share))
    return replace(
        result,
        verdict=Verdict.INTERNAL_ERROR,
        failure=failure,
        score_s=None,
        score_ci95_s=None,
        duel=None,
        suspicions=(),
    )


def is_unranked_text(message: str | None) -> bool:
    """Whether this is the message of a run that `unranked_if_busy` has ended: it tells nothing of
    the run's data, whoever reads it."""
    return message in {_unranked(percent / 100) for percent in range(101)}


def _unranked(share: float) -> str:
    return (
        f"{busy_text(share)}, also when it was measured again. So it isn't ranked, which is "
        "nobody's fault. Submit it again later, or ask an organiser to keep other programs off the "
        "machine."
    )
