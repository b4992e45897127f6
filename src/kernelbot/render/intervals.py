"""What the interval of a score consists of, in words."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kernelbot.protocol.scoring import Z95
from kernelbot.render.units import interval_text

if TYPE_CHECKING:
    from kernelbot.ranking.model import ScoreInterval
    from kernelbot.runs.model import RunView

_Interval = tuple[float, float]
ONE_JUDGING = "The intervals are of this judging alone."
"""What is said below a table of workloads."""


def seconds_interval(interval_s: _Interval) -> str:
    """`1.21 to 1.25 ms`, from seconds."""
    return interval_text(interval_s[0] * 1e9, interval_s[1] * 1e9)


def of_one_judging(interval_s: _Interval) -> str:
    """The interval of a run's own samples."""
    return f"95 % interval of this judging {seconds_interval(interval_s)}"


def beside_score(ranked: "ScoreInterval | None", own: _Interval | None) -> str:
    """The interval that stands beside a score, without what it consists of: the ranking's, or that
    of one judging if the run isn't ranked; empty if none is known."""
    if ranked and not _is_of_one(ranked):
        return f"95 % interval {seconds_interval(ranked.ci95_s)}"
    known = ranked.own_ci95_s if ranked else own
    return of_one_judging(known) if known else ""


def of_the_score(runs: Iterable["RunView"], score_s: float | None) -> str:
    """What `beside_score` says of a submission's score, which one of its runs has."""
    same = [run for run in runs if run.score_s == score_s]
    for run in sorted(same, key=lambda run: run.interval is None):
        own = run.result.score_ci95_s if run.result is not None else None
        if text := beside_score(run.interval, own):
            return text
    return ""


def of_all_judgings(interval: "ScoreInterval") -> str:
    """The interval of a ranked run, and what it consists of."""
    if _is_of_one(interval):
        return of_one_judging(interval.own_ci95_s)
    whole, own = seconds_interval(interval.ci95_s), seconds_interval(interval.own_ci95_s)
    return f"95 % interval {whole}: {own} of this judging, and {_between_judgings(interval)}"


def _is_of_one(interval: "ScoreInterval") -> bool:
    """Whether the run was judged before anything was known of other judgings."""
    return interval.pairs is None and not interval.scatter


def _between_judgings(interval: "ScoreInterval") -> str:
    adds = f"±{100 * Z95 * interval.scatter:.2g} % between judgings"
    if interval.pairs is None:
        return adds
    if interval.pairs == 0:
        return f"{adds}, which is assumed: the device had shown nothing of that yet"
    shown = "a repeated judging" if interval.pairs == 1 else f"{interval.pairs} repeated judgings"
    return f"{adds}, as the device had shown by {shown}"
