"""What the interval of a score consists of, in words."""

from typing import TYPE_CHECKING

from kernelbot.render.units import interval_text

if TYPE_CHECKING:
    from kernelbot.ranking.model import ScoreInterval

ONE_JUDGING = "The intervals are of this judging alone."
"""What is said of the intervals of workloads."""
_Z95 = 1.96


def seconds_interval(interval_s: tuple[float, float]) -> str:
    """`1.21 to 1.25 ms`, from seconds."""
    return interval_text(interval_s[0] * 1e9, interval_s[1] * 1e9)


def of_one_judging(interval_s: tuple[float, float]) -> str:
    """The interval of a run's own samples."""
    return f"95 % interval of this judging {seconds_interval(interval_s)}"


def of_all_judgings(interval: "ScoreInterval") -> str:
    """The interval of a ranked run, and what it consists of."""
    if interval.pairs is None and not interval.scatter:  # judged before anything was known of that
        return of_one_judging(interval.own_ci95_s)
    whole, own = seconds_interval(interval.ci95_s), seconds_interval(interval.own_ci95_s)
    return f"95 % interval {whole}: {own} of this judging, and {_between_judgings(interval)}"


def _between_judgings(interval: "ScoreInterval") -> str:
    adds = f"±{100 * _Z95 * interval.scatter:.2g} % between judgings"
    if interval.pairs is None:
        return adds
    if interval.pairs == 0:
        return f"{adds}, which is assumed: the device had shown nothing of that yet"
    pairs = "a pair" if interval.pairs == 1 else f"{interval.pairs} pairs"
    return f"{adds}, as the device had shown by {pairs} of judgings"
