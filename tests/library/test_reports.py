from dataclasses import replace

import pytest

from kernelbot.library import Baseline, Report
from kernelbot.protocol import RunResult, WorkloadResult
from tests.render.results import ACCEPTED, WORKLOAD, WRONG

WAITED = replace(WORKLOAD, waited=990, repeated=990)


def timed(workload: WorkloadResult) -> RunResult:
    """The same with this measurement in the place of each."""
    phases = tuple(
        replace(phase, workloads=(workload,) * len(phase.workloads)) for phase in ACCEPTED.phases
    )
    return replace(ACCEPTED, phases=phases)


def baseline(workload: WorkloadResult) -> Baseline:
    return Baseline("reference.py", 0.002, (0.0019, 0.0021), (workload,))


@pytest.mark.parametrize(
    ("is_busy", "report"),
    [
        (False, Report(ACCEPTED, 2)),
        (True, Report(timed(WAITED), 2)),
        (False, Report(ACCEPTED, 2, baseline(WORKLOAD))),
        (True, Report(ACCEPTED, 2, baseline(WAITED))),
        (False, Report(WRONG, 2)),
    ],
)
def test_times_of_a_machine_that_was_busy_are_said_to_be_that(
    is_busy: bool, report: Report
) -> None:
    assert is_busy == report.busy.startswith("The machine was busy: ")
