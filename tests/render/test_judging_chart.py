"""The chart of one judging."""

from dataclasses import replace
from typing import Any

import pytest

from kernelbot.drawing.chart_process import drawn
from kernelbot.protocol import WorkloadResult
from kernelbot.render.judging_chart import judging_chart
from tests.render.results import WORKLOAD


def timed(spec: str, *samples_ns: float) -> WorkloadResult:
    middle = sorted(samples_ns)[len(samples_ns) // 2]
    return replace(
        WORKLOAD, spec=spec, samples_ns=samples_ns, median_ns=middle, ci95_ns=(middle, middle)
    )


def rows(chart: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = chart["layer"][layer]["data"]["values"]
    return found


def test_each_workload_has_its_calls_interval_and_median() -> None:
    load = replace(timed("size: 1", 2e6, 3e6, 4e6), ci95_ns=(2.5e6, 3.5e6))
    calls, interval, median = (rows(judging_chart([load]), layer) for layer in range(3))
    assert [2, 3, 4] == [row["value"] for row in calls]
    assert [(2.5, 3.5)] == [(row["low"], row["high"]) for row in interval]
    assert [("size: 1", 3)] == [(row["workload"], row["value"]) for row in median]


def test_workloads_that_are_equal_once_shortened_have_a_row_each() -> None:
    near, far = (
        timed(f"batch: 16; heads: 32; sequence: 4096; dim: {dim}", 1e3) for dim in (64, 128)
    )
    chart = judging_chart([near, far], [far])
    names = [row["workload"] for row in rows(chart, 2)]
    assert (2, names[1]) == (len(set(names)), names[2])
    assert names[:2] == chart["layer"][0]["encoding"]["y"]["sort"]


def test_the_reference_has_a_colour_and_a_name_of_its_own() -> None:
    chart = judging_chart([timed("a", 1e3)], [timed("a", 2e3)])
    assert ["this cell", "reference"] == [row["whose"] for row in rows(chart, 2)]
    assert ["this cell", "reference"] == chart["layer"][0]["encoding"]["color"]["scale"]["domain"]


def test_ten_thousand_calls_are_not_all_drawn() -> None:
    chart = judging_chart([timed("a", *map(float, range(1, 10_000)))])
    assert 100 < len(rows(chart, 0)) <= 200


def test_calls_that_something_delayed_are_left_out() -> None:
    chart = judging_chart([timed("a", *([1e3] * 12), *([2e9] * 8))])
    assert [1.0] * 12 == [row["value"] for row in rows(chart, 0)]


def test_far_apart_workloads_are_on_a_logarithmic_axis() -> None:
    near, far = (
        judging_chart([timed("a", 1e3), timed("b", 2e3)]),
        judging_chart([timed("a", 1e3), timed("b", 1e6)]),
    )
    scales = [chart["layer"][2]["encoding"]["x"]["scale"].get("type") for chart in (near, far)]
    assert [None, "log"] == scales


def test_hostile_names_are_text() -> None:
    pytest.importorskip("vl_convert")
    name = '<script>alert("x")</script>\x1b[2J'
    svg = drawn({"form": "svg", "chart": judging_chart([timed(name, 1e3, 2e3)])}).decode()
    assert ("<script" in svg, "\x1b" in svg, "<svg" in svg) == (False, False, True)
