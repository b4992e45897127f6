"""When a ranked run's interval is so wide that it is measured again before it is ranked."""

from kernelbot.protocol.scoring import RESOLUTION_NS

MAX_REPEATS = 3
"""How often one run is measured again."""
WIDEST = 0.1
"""The widest interval that is ranked at once: half of it, as a share of the score."""
REPEATED = "its interval is wider than ±10 %, so it is measured again, alone"
"""For people, after the name of a run."""
_TOLERANCE = 1e-9
"""An interval of exactly +-10 % isn't wider, whatever the last digits of its ends are."""


def is_too_wide(score_s: float, ci95_s: tuple[float, float]) -> bool:
    """Whether the 95 % interval says so little that the score has to be measured again. What no
    measurement can tell of a short kernel doesn't count: measuring again wouldn't help."""
    low_s, high_s = ci95_s
    widest_s = 2 * (WIDEST * score_s + RESOLUTION_NS / 1e9)
    return high_s - low_s > widest_s * (1 + _TOLERANCE)
