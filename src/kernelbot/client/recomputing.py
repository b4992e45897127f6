"""Medians, intervals and scores of a signed result, computed again from its samples by the
harness's own rule."""

from enum import StrEnum

from kernelbot.attestations.schemas import AttestedResult, AttestedRun, AttestedWorkload
from kernelbot.domain.errors import UserError
from kernelbot.protocol import HarnessKind, Phase
from kernelbot.protocol.late import dataclass
from kernelbot.protocol.scoring import (
    FEWEST_TURNS_BEFORE,
    MedianTime,
    are_same,
    median_time,
    score,
    scoring_workloads,
)


class DoesNotFollow(UserError):
    """What was signed contradicts itself: a figure isn't what its samples show."""

    code = "score_does_not_follow"

    def __init__(self, message: str) -> None:
        super().__init__(
            message,
            hint="It was signed like this: believe no figure of it, and ask whoever signed it.",
        )


class RecomputeOutcome(StrEnum):
    """What became of computing a run's score again."""

    EQUAL = "equal"
    NO_SCORE = "no_score"
    WITHHELD = "withheld"
    """The samples aren't in the document."""
    SCRIPT = "script"
    """The problem's own script reported figures and no samples."""
    OLDER = "older"
    """The document doesn't say how the score is made of the workloads' times."""


@dataclass(frozen=True)
class ScoreCheck:
    """A run's score. `samples`: how many it was computed from again; 0 unless it was."""

    run_id: int
    outcome: RecomputeOutcome
    samples: int = 0


def check_scores(result: AttestedResult) -> list[ScoreCheck]:
    """Each run's check, in the document's order. Raises `DoesNotFollow` for the first figure that
    its samples contradict."""
    checks = [_check_run(run) for run in result.runs]
    scores = {run.score_s for run in result.runs}
    if checks and result.score_s is not None and result.score_s not in scores:
        raise DoesNotFollow(
            f"The submission's score, {result.score_s} s, is that of none of its runs."
        )
    return checks


def _check_run(run: AttestedRun) -> ScoreCheck:
    for load in run.workloads:
        if load.samples_ns:
            _check_workload(run, load)
    outcome = _unchecked(run)
    if outcome is not None:
        return ScoreCheck(run.run_id, outcome)
    return ScoreCheck(run.run_id, RecomputeOutcome.EQUAL, _check_score(run))


def _unchecked(run: AttestedRun) -> RecomputeOutcome | None:
    """Why the run's score can't be computed again; None: it can."""
    if run.score_s is None:
        return RecomputeOutcome.NO_SCORE
    if run.samples_withheld:
        return RecomputeOutcome.WITHHELD
    if run.harness.kind is HarnessKind.SCRIPT:
        return RecomputeOutcome.SCRIPT
    return RecomputeOutcome.OLDER if run.problem.ranking_by is None else None


def _check_workload(run: AttestedRun, load: AttestedWorkload) -> None:
    try:
        found = _of_samples(load)
    except (ValueError, ArithmeticError):  # what overflows has no median
        raise DoesNotFollow(
            f"Run {run.run_id}, {load.phase}, workload {load.workload}: its samples can't be times."
        ) from None
    if not _says(load, found):
        raise DoesNotFollow(
            f"Run {run.run_id}, {load.phase}, workload {load.workload}: the median is given as "
            f"{load.median_ns} ns, with the interval {_range(load.ci95_ns)} ns; by its samples it "
            f"is {found.median_ns} ns, with {_range(found.ci95_ns)} ns."
        )


def _check_score(run: AttestedRun) -> int:
    """Returns how many samples the score is made of."""
    assert run.score_s is not None, "see `_unchecked`"
    assert run.problem.ranking_by is not None, "see `_unchecked`"
    loads = _scoring(run)
    if not loads or not all(load.samples_ns for load in loads):
        raise DoesNotFollow(f"Run {run.run_id} has a score, and not all samples that it is of.")
    try:
        found_s, interval_s = score(run.problem.ranking_by, [_of_samples(load) for load in loads])
    except (ValueError, OverflowError):
        raise DoesNotFollow(f"Run {run.run_id} has a score, and its samples allow none.") from None
    given = (run.score_s, *(run.score_ci95_s or ()))
    if not are_same(given, (found_s, *(interval_s if run.score_ci95_s else ()))):
        raise DoesNotFollow(
            f"Run {run.run_id}: the score is given as {run.score_s} s, with the interval "
            f"{_range(run.score_ci95_s)} s; by its samples it is {found_s} s, with "
            f"{_range(interval_s)} s."
        )
    return sum(len(load.samples_ns) for load in loads)


def _scoring(run: AttestedRun) -> list[AttestedWorkload]:
    by_phase: dict[Phase, list[AttestedWorkload]] = {}
    for load in run.workloads:
        by_phase.setdefault(load.phase, []).append(load)
    return list(scoring_workloads(by_phase))


def _of_samples(load: AttestedWorkload) -> MedianTime:
    """By the harness's rule, or by that of earlier releases if it is what the document says."""
    samples_ns, factors, processes = load.samples_ns, load.drift_factors, load.processes
    found = median_time(samples_ns, factors, processes)
    if _says(load, found):
        return found
    before = median_time(samples_ns, factors, processes, FEWEST_TURNS_BEFORE)
    return before if _says(load, before) else found


def _says(load: AttestedWorkload, found: MedianTime) -> bool:
    return are_same((load.median_ns, *load.ci95_ns), (found.median_ns, *found.ci95_ns))


def _range(ends: tuple[float, float] | None) -> str:
    return "none" if ends is None else f"{ends[0]} .. {ends[1]}"
