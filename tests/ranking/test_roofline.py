"""Work, and the limits it is compared with."""

from dataclasses import replace

import pytest

from kernelbot.protocol import Case, DeviceSpec, Floor, NumberType, RankRule, Vendor
from kernelbot.ranking.roofline import Roof, RooflineWork, limit_of, roof_of, work_of
from tests.support.problems import sort_problem

SPEC = replace(
    sort_problem().spec,
    benchmarks=(Case({"n": 1}), Case({"n": 2}), Case({"n": 3})),
    floors=(Floor(2.0, 1.0), Floor(4.0, 2.0), Floor(8.0, 4.0)),
)

WORK = RooflineWork(8.0, 4.0)


@pytest.mark.parametrize(
    ("rule", "work"),
    [
        (RankRule.LAST, RooflineWork(8.0, 4.0)),
        (RankRule.MEAN, RooflineWork(14 / 3, 7 / 3)),
        (RankRule.GEOM, RooflineWork(4.0, 2.0)),
    ],
)
def test_work_is_put_together_as_the_score_is(rule: RankRule, work: RooflineWork) -> None:
    found = work_of(replace(SPEC, ranking_by=rule))
    assert found is not None
    assert (work.flops, work.memory_bytes) == pytest.approx((found.flops, found.memory_bytes))


def test_the_last_of_three_workloads_counts() -> None:
    floors = (Floor(1.0, 1.0), Floor(2.0, 1.0), Floor(8.0, 4.0))
    assert WORK == work_of(replace(SPEC, ranking_by=RankRule.LAST, floors=floors))


def test_where_the_last_workload_counts_alone_no_other_has_to_be_known() -> None:
    floors = (None, None, Floor(8.0, 4.0))
    found = work_of(replace(SPEC, ranking_by=RankRule.LAST, floors=floors))
    assert RooflineWork(8.0, 4.0) == found


F16, F32 = NumberType.FP16, NumberType.FP32


@pytest.mark.parametrize(
    ("types", "expected"),
    [((F16, F16), F16), ((F16, F32), None), ((None, None), None), ((F16, None), None)],
)
def test_work_is_of_a_type_if_all_workloads_are(
    types: tuple[NumberType | None, ...], expected: NumberType | None
) -> None:
    floors = tuple(Floor(1.0, 1.0, kind) for kind in types)
    found = work_of(replace(SPEC, ranking_by=RankRule.MEAN, floors=floors))
    assert found is not None
    assert expected == found.number_type


@pytest.mark.parametrize(
    "floors",
    [
        (),
        (Floor(None, 1.0),),
        (None, Floor(1.0, 1.0)),
        (Floor(1.0), Floor(1.0, 1.0)),
        (Floor(0.0, 1.0),) * 2,
    ],
)
def test_without_all_numbers_there_is_no_work(floors: tuple[Floor | None, ...]) -> None:
    assert work_of(replace(SPEC, ranking_by=RankRule.MEAN, floors=floors)) is None


@pytest.mark.parametrize(("intensity", "flops_per_s"), [(1.0, 10.0), (10.0, 100.0), (50.0, 100.0)])
def test_memory_limits_up_to_the_ridge(intensity: float, flops_per_s: float) -> None:
    assert flops_per_s == Roof(100.0, 10.0).flops_per_s(intensity)


def test_a_device_without_peaks_has_no_roof() -> None:
    without = (
        None,
        DeviceSpec("CPU", Vendor.CPU),
        DeviceSpec("CPU", Vendor.CPU, peak_flops=1.0),
        DeviceSpec("CPU", Vendor.CPU, peak_bytes_per_s=1.0),
    )
    assert [None] * 4 == [roof_of(one, WORK) for one in without]
    known = DeviceSpec("X", Vendor.CPU, peak_flops=1.0, peak_bytes_per_s=2.0)
    assert Roof(1.0, 2.0) == roof_of(known, WORK)


TIMED = [case.spec for case in SPEC.benchmarks]
DEVICE = DeviceSpec("X", Vendor.CPU, peak_flops=4.0, peak_bytes_per_s=4.0)


@pytest.mark.parametrize(
    ("floor", "is_memory"),
    [(Floor(1.0, 4.0), True), (Floor(4.0, 1.0), False), (Floor(4.0, 4.0), False)],
)
def test_the_limit_is_what_takes_longer(floor: Floor, is_memory: bool) -> None:
    found = limit_of(2.0, TIMED, replace(SPEC, floors=(floor,) * 3), DEVICE)
    assert found is not None
    assert (is_memory, 0.5, 1.0) == (found.is_memory, found.share, found.at_least_s)


def test_a_problem_that_has_changed_since_has_no_limit_for_a_score() -> None:
    assert limit_of(1.0, ["n: 4"], SPEC, DEVICE) is None


def test_without_a_score_a_problem_or_peaks_there_is_no_limit() -> None:
    assert [None] * 5 == [
        limit_of(None, TIMED, SPEC, DEVICE),
        limit_of(1.0, [], SPEC, DEVICE),
        limit_of(1.0, TIMED, None, DEVICE),
        limit_of(1.0, TIMED, replace(SPEC, floors=()), DEVICE),
        limit_of(1.0, TIMED, SPEC, None),
    ]
