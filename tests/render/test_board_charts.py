"""Charts of a board."""

from datetime import UTC, datetime, timedelta

from kernelbot.ranking.model import Score, Trend
from kernelbot.ranking.roofline import Roof, RooflineWork
from kernelbot.render.board_charts import DARK, LIGHT, roofline_chart, trend_chart

AT = datetime(2026, 1, 1, tzinfo=UTC)


def scored(author: str, *scores_s: float) -> tuple[Score, ...]:
    return tuple(
        Score(n, author, one, None, AT + timedelta(days=n)) for n, one in enumerate(scores_s)
    )


def test_the_record_and_each_author_are_a_line_in_one_unit() -> None:
    trend = Trend("sort", "CPU", scored("ada", 3e-3, 1e-3), {"bob": scored("bob", 2e-3)})
    rows = trend_chart(trend, log=False, colours=LIGHT)["data"]["values"]
    assert [("record", 3.0), ("record", 1.0), ("bob", 2.0)] == [
        (row["series"], row["score"]) for row in rows
    ]


def test_the_axis_is_logarithmic_if_it_is_asked_for() -> None:
    trend = Trend("sort", "CPU", scored("ada", 1.0), {})
    charts = [trend_chart(trend, log=log, colours=DARK) for log in (False, True)]
    kinds = [chart["layer"][0]["encoding"]["y"]["scale"].get("type") for chart in charts]
    assert [None, "log"] == kinds


def test_names_are_one_short_line() -> None:
    trend = Trend("sort", "CPU", scored("ada", 1.0), {"a\nb" * 50: scored("a\nb" * 50, 2.0)})
    names = {
        row["series"] for row in trend_chart(trend, log=False, colours=LIGHT)["data"]["values"]
    }
    assert max(map(len, names)) <= 24


def test_names_that_are_equal_once_shortened_are_numbered() -> None:
    agents = [f"kernel-optimiser-agent-run-{n}" for n in (1, 2)]
    chosen = {author: scored(author, 2.0) for author in [*agents, "record"]}
    chart = trend_chart(Trend("sort", "CPU", scored("ada", 1.0), chosen), log=False, colours=LIGHT)
    domain = chart["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert (4, 4) == (len(set(domain)), len(domain))
    assert domain == [row["series"] for row in chart["data"]["values"]]


def test_authors_below_a_roof_are_told_apart_as_well() -> None:
    scores = [(f"kernel-optimiser-agent-run-{n}", 1.0) for n in (1, 2)]
    chart = roofline_chart(RooflineWork(4.0, 2.0), Roof(100.0, 10.0), scores, LIGHT)
    names = [row["series"] for row in chart["data"]["values"]]
    assert names == chart["layer"][1]["encoding"]["color"]["scale"]["domain"]
    assert 2 == len(set(names))


def test_the_roof_has_its_ridge_where_both_limits_meet() -> None:
    chart = roofline_chart(RooflineWork(4.0, 2.0), Roof(100.0, 10.0), [("ada", 1.0)], LIGHT)
    roof = chart["layer"][0]["data"]["values"]
    assert {"intensity": 10.0, "flops": 100.0} == roof[1]
    assert [{"intensity": 2.0, "flops": 4.0, "series": "ada"}] == chart["data"]["values"]
