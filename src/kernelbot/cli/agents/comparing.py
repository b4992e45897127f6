"""Two submissions side by side, by the intervals of their medians."""

from pydantic import BaseModel, Field

from kernelbot.cli.agents.answers import timings
from kernelbot.ranking.rules import widened
from kernelbot.runs.report import WorkloadReport
from kernelbot.saves.comparing import SpeedChange, by_intervals
from kernelbot.submissions.model import SubmissionView


class Compared(BaseModel):
    """One workload on one device."""

    device: str
    workload: str
    first_ns: float
    second_ns: float
    ratio: float | None = Field(
        description="The second's median over the first's: below 1 is faster. Null: the first is 0."
    )
    second_is: SpeedChange = Field(
        description="can't tell: their 95 % intervals overlap. Of ranked submissions these contain "
        "what the device has shown to differ between judgings; of others they are of one judging "
        "each, so a small difference may be another one the next time."
    )


class Comparison(BaseModel):
    """Two submissions; workloads that only one of them was timed on are left out."""

    first_id: int
    second_id: int
    workloads: list[Compared]


def compare(first: SubmissionView, second: SubmissionView) -> Comparison:
    """The timings that both have, in the first's order."""
    ours, theirs = timings(first), timings(second)
    our_scatter, their_scatter = _scatter(first), _scatter(second)
    return Comparison(
        first_id=first.id,
        second_id=second.id,
        workloads=[
            _compared(
                device,
                timing,
                theirs[device, workload],
                (our_scatter.get(device, 0.0), their_scatter.get(device, 0.0)),
            )
            for (device, workload), timing in ours.items()
            if (device, workload) in theirs
        ],
    )


def _scatter(found: SubmissionView) -> dict[str, float]:
    """What differs between judgings of ranked runs, by device."""
    return {run.device: run.interval.scatter for run in found.runs if run.interval}


def _interval(timing: WorkloadReport, scatter: float) -> tuple[float, float]:
    if timing.median_ns <= 0:
        return timing.ci95_ns
    return widened(timing.median_ns, timing.ci95_ns, scatter)


def _compared(
    device: str, first: WorkloadReport, second: WorkloadReport, scatter: tuple[float, float]
) -> Compared:
    return Compared(
        device=device,
        workload=first.workload,
        first_ns=first.median_ns,
        second_ns=second.median_ns,
        ratio=second.median_ns / first.median_ns if first.median_ns else None,
        second_is=by_intervals(_interval(first, scatter[0]), _interval(second, scatter[1])),
    )
