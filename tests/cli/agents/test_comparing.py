from dataclasses import replace

import pytest

from kernelbot.cli.agents.comparing import compare
from kernelbot.protocol import (
    HarnessKind,
    Mode,
    Phase,
    PhaseResult,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
    WorkloadResult,
)
from kernelbot.ranking.model import ScoreInterval
from kernelbot.saves.comparing import SpeedChange
from kernelbot.submissions.model import SubmissionView
from tests.render.results import judged


def timed(low_ns: float, high_ns: float, *, spec: str = "size: 1") -> SubmissionView:
    """A submission with one timed workload, its median in the middle."""
    median_ns = (low_ns + high_ns) / 2
    load = WorkloadResult(spec, (), median_ns, 1.0, 0.0, (low_ns, high_ns), 1.0, 2.0)
    result = RunResult(
        job_id="1",
        problem="sort",
        mode=Mode.BENCHMARK,
        harness=HarnessKind.NATIVE,
        verdict=Verdict.ACCEPTED,
        system=SystemInfo("CPU", "fake", "fake", "3", None),
        sandbox=SandboxReport("none", (), ()),
        phases=(PhaseResult(Phase.BENCHMARK, Verdict.ACCEPTED, 0.1, workloads=(load,)),),
    )
    return judged(result)


@pytest.mark.parametrize(
    ("second", "answer"),
    [
        ((80, 99), SpeedChange.FASTER),
        ((80, 100), SpeedChange.UNKNOWN),
        ((100, 120), SpeedChange.UNKNOWN),
        ((120, 130), SpeedChange.UNKNOWN),
        ((121, 130), SpeedChange.SLOWER),
    ],
)
def test_intervals_decide(second: tuple[float, float], answer: SpeedChange) -> None:
    (found,) = compare(timed(100, 120), timed(*second)).workloads
    assert answer is found.second_is


@pytest.mark.parametrize(
    ("scatter", "answer"),
    [(0.0, SpeedChange.FASTER), (0.05, SpeedChange.FASTER), (0.3, SpeedChange.UNKNOWN)],
)
def test_what_a_device_has_shown_between_judgings_widens_them(
    scatter: float, answer: SpeedChange
) -> None:
    interval = ScoreInterval((1.0, 1.0), (1.0, 1.0), scatter, 9)
    ranked = [
        replace(view, runs=(replace(view.runs[0], interval=interval),))
        for view in (timed(100, 120), timed(60, 72))
    ]
    (found,) = compare(*ranked).workloads
    assert answer is found.second_is


def test_the_ratio_is_of_the_medians() -> None:
    (found,) = compare(timed(100, 100), timed(50, 50)).workloads
    assert 0.5 == found.ratio


def test_a_median_of_zero_gives_no_ratio() -> None:
    (found,) = compare(timed(0, 0), timed(1, 1)).workloads
    assert None is found.ratio


def test_other_workloads_are_not_compared() -> None:
    assert [] == compare(timed(1, 2), timed(1, 2, spec="size: 2")).workloads
