"""Two submissions side by side, by the intervals of their medians."""

from pydantic import BaseModel, Field

from kernelbot.cli.agents.answers import Timing, timings
from kernelbot.saves.comparing import Answer, by_intervals
from kernelbot.submissions.schemas import SubmissionView


class Compared(BaseModel):
    """One workload on one device."""

    device: str
    workload: str
    first_ns: float
    second_ns: float
    ratio: float | None = Field(
        description="The second's median over the first's: below 1 is faster. Null: the first is 0."
    )
    second_is: Answer = Field(description="can't tell: their 95 % intervals overlap.")


class Comparison(BaseModel):
    """Two submissions; workloads that only one of them was timed on are left out."""

    first_id: int
    second_id: int
    workloads: list[Compared]


def compare(first: SubmissionView, second: SubmissionView) -> Comparison:
    """The timings that both have, in the first's order."""
    ours, theirs = timings(first), timings(second)
    return Comparison(
        first_id=first.id,
        second_id=second.id,
        workloads=[
            _compared(device, timing, theirs[device, workload])
            for (device, workload), timing in ours.items()
            if (device, workload) in theirs
        ],
    )


def _compared(device: str, first: Timing, second: Timing) -> Compared:
    return Compared(
        device=device,
        workload=first.workload,
        first_ns=first.median_ns,
        second_ns=second.median_ns,
        ratio=second.median_ns / first.median_ns if first.median_ns else None,
        second_is=by_intervals(first.ci95_ns, second.ci95_ns),
    )
