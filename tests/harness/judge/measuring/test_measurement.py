"""What is told of a measurement, by its samples."""

import statistics
from dataclasses import replace

import pytest

from kernelbot.harness.judge.measuring.measurement import (
    Measurement,
    Times,
    dueled_workload,
    workload_result,
)
from kernelbot.harness.timing.stopping_rule import StoppedBy
from kernelbot.harness.timing.waits import Waits
from kernelbot.protocol import Case, DuelWorkload, WorkloadResult
from kernelbot.protocol.scoring import median_time

CASE = Case({"size": 1})
SAMPLES = (1e6, 2e6, 6e6) * 4
MEASURED = Measurement(
    CASE,
    (Times(SAMPLES, 7),),
    StoppedBy.MAX_SAMPLES,
    3.0,
    None,
    3,
    2,
    waits=Waits(windows=14, waited=5, repeated=2),
)


def test_a_result_has_the_figures_of_its_samples() -> None:
    middle = median_time(SAMPLES, processes=3)
    assert WorkloadResult(
        spec="size: 1",
        samples_ns=SAMPLES,
        median_ns=2e6,
        mean_ns=3e6,
        stdev_ns=statistics.stdev(SAMPLES),
        ci95_ns=middle.ci95_ns,
        best_ns=1e6,
        worst_ns=6e6,
        checked=7,
        stopped_by="max_samples",
        empty_call_ns=3.0,
        anchor_ns=None,
        drift_factors=(),
        processes=3,
        calls=2,
        waited=5,
        repeated=2,
    ) == workload_result(MEASURED)
    assert 2e6 == MEASURED.median_ns


def test_a_duels_has_the_ratios_of_its_pairs() -> None:
    times = (Times((1e6,) * 6, 6), Times((2e6,) * 6, 6))
    found = dueled_workload(replace(MEASURED, times=times))
    assert (
        DuelWorkload(
            "size: 1",
            (1e6,) * 6,
            (2e6,) * 6,
            0.5,
            pytest.approx((0.5, 0.5)),  # type: ignore[arg-type]  # compares as one
            "max_samples",
            3,
            5,
            2,
        )
        == found
    )


def test_what_is_doubtful_and_what_is_noted_is_told_of_each_kernel() -> None:
    times = (Times((), 0, "odd", "slow"), Times((), 0), Times((), 0, "odder", "slower"))
    both = replace(MEASURED, times=times)
    assert (("odd", "odder"), ("slow", "slower")) == (both.suspicions, both.notes)
