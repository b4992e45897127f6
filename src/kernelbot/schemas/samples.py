"""Every sample of a submission's measurements."""

from collections.abc import Iterable

from pydantic import Field

from kernelbot.domain.types import Run
from kernelbot.protocol import Phase
from kernelbot.schemas.common import Answer


class SampledWorkload(Answer):
    """One workload in one phase of one run; times in nanoseconds, in the order they were taken."""

    run_id: int
    device: str
    secret: bool
    rejudge_id: int | None = Field(description="The rejudge that it was measured for; or null.")
    phase: Phase
    workload: int = Field(description="Counted from 0, in the phase's order.")
    spec: str
    median_ns: float
    ci95_ns: tuple[float, float]
    stopped_by: str
    empty_call_ns: float | None = Field(description="Reported, never subtracted.")
    anchor_ns: float | None = Field(description="Median time of the problem's anchor.")
    drift_factors: list[float] = Field(
        description="The median and its interval are of the samples times these, one for ten each."
    )
    samples_ns: list[float]


class SampleList(Answer):
    """All that the asker may see; those of secret runs are for organisers only."""

    submission_id: int
    workloads: list[SampledWorkload]

    @classmethod
    def of(cls, submission_id: int, runs: Iterable[Run]) -> "SampleList":
        """The samples in the results of a submission's runs."""
        workloads = [
            SampledWorkload(
                run_id=run.id,
                device=run.device,
                secret=run.secret,
                rejudge_id=run.rejudge_id,
                phase=phase.phase,
                workload=index,
                spec=load.spec,
                median_ns=load.median_ns,
                ci95_ns=load.ci95_ns,
                stopped_by=load.stopped_by,
                empty_call_ns=load.empty_call_ns,
                anchor_ns=load.anchor_ns,
                drift_factors=list(load.drift_factors),
                samples_ns=list(load.samples_ns),
            )
            for run in runs
            if run.result is not None
            for phase in run.result.phases
            for index, load in enumerate(phase.workloads)
        ]
        return cls(submission_id=submission_id, workloads=workloads)
