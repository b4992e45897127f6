"""When a ranked run was measured so badly that it is measured again before it is ranked."""

from dataclasses import replace

from kernelbot.protocol import Failure, Fault, RunResult, Verdict
from kernelbot.protocol.scoring import RESOLUTION_NS
from kernelbot.protocol.waits import busy_share, busy_text

MAX_REPEATS = 3
"""How often one run is measured again."""
WIDEST = 0.1
"""The widest interval that is ranked at once: half of it, as a share of the score."""
WHY_REPEATED = "its interval was wider than ±10 %, or the machine was busy"
REPEATED = f"{WHY_REPEATED}, so it is measured again, alone"
"""For people, after the name of a run, of which only the number of its repeats is known."""
TOO_WIDE = "its interval is wider than ±10 %, so it is measured again, alone"
_TOLERANCE = 1e-9
"""An interval of exactly +-10 % isn't wider, whatever the last digits of its ends are."""


def is_too_wide(score_s: float, ci95_s: tuple[float, float]) -> bool:
    """Whether the 95 % interval says so little that the score has to be measured again. What no
    measurement can tell of a short kernel doesn't count: measuring again wouldn't help."""
    low_s, high_s = ci95_s
    widest_s = 2 * (WIDEST * score_s + RESOLUTION_NS / 1e9)
    return high_s - low_s > widest_s * (1 + _TOLERANCE)


def why_again(result: RunResult) -> str:
    """Why the score of an accepted run has to be measured again, for people; empty if it hasn't to,
    or if there is none."""
    if result.score_s is None or result.score_ci95_s is None:
        return ""
    share = busy_share(result)
    if share is not None:
        return f"{busy_text(share)}, so it is measured again, alone"
    if is_too_wide(result.score_s, result.score_ci95_s):
        return TOO_WIDE
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
