"""A submission's score beside its author's best other one, the leader's and what the device can do,
as the server compares them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernelbot.render.limits import whole_text
from kernelbot.render.text import one_line
from kernelbot.render.units import percent_text, seconds_text, three_digits

if TYPE_CHECKING:
    from kernelbot.ranking.model import ScoreComparison


_ALIKE = 0.0005
"""What differs by less is the same in the digits that are shown."""
_TIMES = 1.005
"""From here on a factor of three digits isn't 1.00."""


def comparison_lines(found: "Sequence[ScoreComparison]") -> list[str]:
    """A line for each score that there is to compare with, each with its device if there are
    several."""
    lines = []
    for one in found:
        device = f"{one_line(one.device)}: " if len(found) > 1 else ""
        lines += [f"{device}{line}" for line in _lines(one)]
    return lines


def limit_lines(found: "Sequence[ScoreComparison]") -> list[str]:
    """A line for each device whose limit is known."""
    return [whole_text(one.limit, one.device) for one in found if one.limit is not None]


def _lines(one: "ScoreComparison") -> list[str]:
    lines = []
    score_s = one.score.score_s
    if one.own is not None:
        whose = f"your best other one, submission {one.own.submission_id}"
        lines.append(_against(score_s, whose, one.own.score_s))
    if one.rank == 1:
        lines.append("It shares the first rank" if one.shared else "It leads the ranking")
    elif one.leader is not None and one.leader.submission_id != one.score.submission_id:
        whose = f"the leader, {one_line(one.leader.author)}"
        lines.append(_against(score_s, whose, one.leader.score_s))
    return lines


def _against(score_s: float, whose: str, other_s: float) -> str:
    """How two scores differ: as a factor if it is large, else in percent."""
    ratio = score_s / other_s
    if abs(ratio - 1) < _ALIKE:
        how = "as fast as"
    elif 1 / ratio >= _TIMES:
        how = f"{three_digits(1 / ratio)} times as fast as"
    elif ratio < 2:
        how = f"{percent_text(ratio - 1)} to"
    else:
        how = f"{three_digits(ratio)} times the time of"
    return f"{how} {whose}: {seconds_text(other_s)}"
