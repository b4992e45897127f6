from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.platform.statistics.model import DeviceStatistics, Statistics
from kernelbot.ranking.model import Score
from kernelbot.render.charts import progress_chart, statistics_chart, time_axis

AT = datetime(2026, 1, 1, tzinfo=UTC)


def achieved(*scores_s: float) -> list[Score]:
    return [
        Score(day, "ada", score_s, None, AT + timedelta(days=day))
        for day, score_s in enumerate(scores_s)
    ]


def test_the_line_is_the_best_until_then() -> None:
    rows = progress_chart("ada", achieved(3.0, 4.0, 2.0))["data"]["values"]
    assert [3.0, 3.0, 2.0] == [row["best"] for row in rows]
    assert [3.0, 4.0, 2.0] == [row["score"] for row in rows]


@pytest.mark.parametrize(
    ("score_s", "shown", "unit"),
    [
        (2.0, 2.0, "s"),
        (2e-3, 2.0, "ms"),
        (2e-6, 2.0, "µs"),
        (2e-9, 2.0, "ns"),
        (2e-12, 0.002, "ns"),
    ],
)
def test_scores_have_the_unit_that_fits(score_s: float, shown: float, unit: str) -> None:
    chart = progress_chart("ada", achieved(score_s))
    assert shown == pytest.approx(chart["data"]["values"][0]["score"])
    assert f"score in {unit}" == chart["layer"][0]["encoding"]["y"]["title"]


def test_a_wide_range_has_a_logarithmic_axis() -> None:
    kinds = [
        progress_chart("ada", achieved(*scores))["layer"][0]["encoding"]["y"]["scale"].get("type")
        for scores in ((1.0, 2.0), (1.0, 100.0))
    ]
    assert [None, "log"] == kinds


@pytest.mark.parametrize(("span_s", "format_"), [(1, "%H:%M:%S"), (299, "%H:%M:%S"), (300, None)])
def test_times_within_minutes_are_written_in_full(span_s: float, format_: str | None) -> None:
    axis = time_axis([AT, AT + timedelta(seconds=span_s)])
    assert format_ == axis.get("format")


def test_titles_are_one_line() -> None:
    assert r"a\nb" == progress_chart("a\nb", achieved(1.0))["title"]


def test_statistics_are_bars_by_device() -> None:
    device = DeviceStatistics("CPU", 6, 3, 2, 1, 0, 0, None, None, None, 0.0)
    rows = statistics_chart("all", Statistics(None, False, 1, 6, 1, 6, 3, (device,)))["data"]
    assert [("passed", 3), ("failed", 2), ("errors", 1)] == [
        (row["ended"], row["runs"]) for row in rows["values"]
    ]
