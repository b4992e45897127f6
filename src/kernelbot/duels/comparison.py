"""What `kernelbot compare --json` prints."""

import statistics
from enum import StrEnum

from pydantic import Field

from kernelbot.domain.values import from_fields
from kernelbot.protocol import DuelWorkload, Failure, Verdict
from kernelbot.schemas.models import Answer


class Which(StrEnum):
    FIRST = "first"
    SECOND = "second"


class ComparedWorkload(Answer):
    """Pairs of calls on one workload, in the order of measuring; `ratio`: the median of first over
    second."""

    spec: str
    pairs: int
    first_median_ns: float
    second_median_ns: float
    ratio: float
    ratio_ci95: tuple[float, float]
    first_ns: list[float]
    second_ns: list[float]
    stopped_by: str

    @classmethod
    def from_duel(cls, value: DuelWorkload) -> "ComparedWorkload":
        return from_fields(
            cls,
            value,
            pairs=len(value.submission_ns),
            first_median_ns=statistics.median(value.submission_ns),
            second_median_ns=statistics.median(value.opponent_ns),
            first_ns=list(value.submission_ns),
            second_ns=list(value.opponent_ns),
        )


class ComparisonReport(Answer):
    """Two files that were judged against each other. Below 1, `ratio` says that the first one is
    the faster; `faster` is null if the interval contains 1. `failed` is the file that `error` is
    about, and null if there was a duel or the fault is the platform's."""

    first: str
    second: str
    problem: str
    device: str
    verdict: Verdict
    faster: Which | None = None
    ratio: float | None = None
    ratio_ci95: tuple[float, float] | None = None
    workloads: list[ComparedWorkload] = Field(default_factory=list)
    failed: Which | None = None
    error: Failure | None = None
