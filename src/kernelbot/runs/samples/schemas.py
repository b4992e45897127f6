"""Every sample of a submission's measurements."""

from collections.abc import Iterable

from pydantic import Field

from kernelbot.protocol import Phase
from kernelbot.runs.samples.model import MeasuredWorkload
from kernelbot.schemas.common import Answer


class SampledWorkload(Answer):
    """One workload in one phase of one run; times in nanoseconds, in the order they were taken."""

    run_id: int
    device: str
    secret: bool
    rejudge_id: int | None = Field(description="The rejudge that it was measured for; or null.")
    phase: Phase
    workload: int = Field(description="Counted from 0, in the phase's order.")
    spec: str | None = Field(description="Null in secret runs, for all but admins.")
    median_ns: float
    ci95_ns: tuple[float, float]
    stopped_by: str
    empty_call_ns: float | None = Field(description="Reported, never subtracted.")
    anchor_ns: float | None = Field(description="Median time of the problem's anchor.")
    drift_factors: list[float] = Field(
        description="The median and its interval are of the samples times these, one for ten each."
    )
    samples_ns: list[float]
    processes: int = Field(
        1, description="So many took the samples in turn: sample i is of process i modulo this."
    )


class SampleList(Answer):
    """All that the asker may see. Of secret runs that is what accepted ones took, unless the board
    gives all of them the same seed (`fixed_seed`); admins see everything."""

    submission_id: int
    workloads: list[SampledWorkload]

    @classmethod
    def of(cls, submission_id: int, measured: Iterable[MeasuredWorkload]) -> "SampleList":
        """The samples of a submission's runs."""
        workloads = [
            SampledWorkload(
                run_id=load.run.id,
                device=load.run.device,
                secret=load.run.secret,
                rejudge_id=load.run.rejudge_id,
                phase=load.phase,
                workload=load.index,
                spec=load.spec,
                median_ns=load.times.median_ns,
                ci95_ns=load.times.ci95_ns,
                stopped_by=load.times.stopped_by,
                empty_call_ns=load.times.empty_call_ns,
                anchor_ns=load.times.anchor_ns,
                drift_factors=list(load.times.drift_factors),
                samples_ns=list(load.times.samples_ns),
                processes=load.times.processes,
            )
            for load in measured
        ]
        return cls(submission_id=submission_id, workloads=workloads)
