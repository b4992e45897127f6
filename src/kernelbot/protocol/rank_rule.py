"""How the times of several workloads become one score: an entry for each rule.

A new rule is an entry here and a row of `docs/reference/problem-format.md`.
"""

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Self


def _last(values_s: Sequence[float]) -> float:
    return values_s[-1]


def _mean(values_s: Sequence[float]) -> float:
    return math.fsum(values_s) / len(values_s)


def _geometric_mean(values_s: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values_s)) / len(values_s))


class RankRule(StrEnum):
    """How the times of several workloads become one score."""

    words: str
    combine: Callable[[Sequence[float]], float]
    """Makes one number of finite positive ones."""
    only_last: bool
    """Whether the other workloads aren't timed."""

    LAST = "last", "the median time of the last workload", _last, True
    MEAN = "mean", "the mean of the workloads' median times", _mean, False
    GEOM = ("geom", "the geometric mean of the workloads' median times", _geometric_mean, False)

    def __new__(
        cls,
        value: str,
        words: str = "",
        combine: Callable[[Sequence[float]], float] = _last,
        only_last: bool = False,
    ) -> Self:
        """An entry; the defaults are there only because `RankRule("last")` looks one up."""
        rule = str.__new__(cls, value)
        rule._value_ = value
        rule.words = words
        rule.combine = combine
        rule.only_last = only_last
        return rule
