"""Data other than those that a problem's cases are written with."""

from dataclasses import dataclass, field, replace

from kernelbot.domain.errors import UserError
from kernelbot.harness.words.seeds import case_arguments
from kernelbot.protocol import Case, JobSpec

_SEEDS = 1 << 63


@dataclass(frozen=True)
class OtherData:
    """A seed that is mixed into those of all cases, as a ranked run's is: the same seed gives the
    same data. A case that has no seed stays as it is."""

    seed: int = field(repr=False)
    secret: bool = False
    """Whether the report must not tell it: cases are named as the problem writes them. What the
    checker says of a wrong output may still have numbers of it."""

    def __post_init__(self) -> None:
        """Raises `UserError` for a seed that can't be."""
        if not 0 <= self.seed < _SEEDS:
            raise UserError("A seed is a whole number from 0 to 2^63 - 1.")

    def put_into(self, job: JobSpec) -> JobSpec:
        """The job on these data."""
        if self.secret:
            return replace(job, secret=True, seed=self.seed)
        tests, workloads = (
            tuple(Case(case_arguments(case, self.seed)) for case in cases)
            for cases in (job.problem.tests, job.problem.benchmarks)
        )
        return replace(job, problem=replace(job.problem, tests=tests, benchmarks=workloads))
