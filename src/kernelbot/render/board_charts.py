"""Charts of a board as Vega-Lite documents, for light and for dark pages."""

from collections.abc import Sequence
from typing import Any

from kernelbot.protocol.late import dataclass
from kernelbot.ranking.model import Score, Trend
from kernelbot.ranking.roofline import Roof, RooflineWork
from kernelbot.render.charts import Chart, time_axis, unit_of
from kernelbot.render.text import cut, distinct, one_line

_WIDTH, _HEIGHT = 760, 320
_NAME_CELLS = 24
_CARD_WIDTH, _CARD_HEIGHT = 600, 315
"""In points, of which a picture has two pixels each."""
_CARD_CELLS = 32
_RECORD = "record"
_FONT = "system-ui, sans-serif"


@dataclass(frozen=True)
class Colours:
    """Colours of a page. `lines`: the record's, then the authors'."""

    ink: str
    grid: str
    ground: str
    lines: tuple[str, ...]


LIGHT = Colours(
    "#565d6d",
    "#dfe1e8",
    "#ffffff",
    ("#4338ca", "#b45309", "#0f766e", "#be185d", "#4d7c0f", "#0369a1"),
)
DARK = Colours(
    "#a3abbc",
    "#2d323d",
    "#101217",
    ("#a5a8ff", "#f0a972", "#5eead4", "#f9a8d4", "#bef264", "#7dd3fc"),
)


def trend_chart(trend: Trend, *, log: bool, colours: Colours) -> Chart:
    """The record over time as steps, and the scores of the chosen authors as points on lines."""
    everything = [*trend.records, *(one for scores in trend.chosen.values() for one in scores)]
    size_s, unit = unit_of(min((one.score_s for one in everything), default=1.0))
    names = distinct(trend.chosen, _NAME_CELLS, reserved=[_RECORD])
    rows = [
        *(_row(one, _RECORD, size_s) for one in trend.records),
        *(
            _row(one, names[author], size_s)
            for author, all_ in trend.chosen.items()
            for one in all_
        ),
    ]
    scale = {"type": "log", "nice": True} if log else {"zero": False, "nice": True}
    series = [_RECORD, *names.values()]
    encoding = {
        "x": {
            "field": "at",
            "type": "temporal",
            "axis": time_axis([one.achieved_at for one in everything]),
        },
        "y": {
            "field": "score",
            "type": "quantitative",
            "title": f"score in {unit}, less is better",
            "scale": scale,
        },
        "color": {
            "field": "series",
            "type": "nominal",
            "title": None,
            "scale": {"domain": series, "range": list(colours.lines[: len(series)])},
        },
    }
    mark = {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "point": {"size": 45}}
    return _chart(rows, [{"mark": mark, "encoding": encoding}], colours)


def card_chart(trend: Trend, about: str, *, colours: Colours) -> Chart:
    """A picture that stands for a board elsewhere, of 1200 by 630 pixels: its name, a sentence, and
    the record over time."""
    return _card(trend, (), (trend.board, about), colours)


def result_chart(
    trend: Trend, scored: Score, headline: str, about: str, *, colours: Colours
) -> Chart:
    """A picture that stands for a single result elsewhere, of the same size: two lines, and the
    record over time with the score as a point of another colour."""
    return _card(trend, (scored,), (headline, about), colours)


def _card(trend: Trend, points: Sequence[Score], lines: tuple[str, str], colours: Colours) -> Chart:
    everything = [*trend.records, *points]
    size_s, unit = unit_of(min((one.score_s for one in everything), default=1.0))
    axis = {"title": None, "ticks": False, "domain": False, "labelPadding": 10}
    times = {**time_axis([one.achieved_at for one in everything]), **axis, "tickCount": 4}
    place = {
        "x": {"field": "at", "type": "temporal", "axis": times},
        "y": {
            "field": "score",
            "type": "quantitative",
            "axis": {**axis, "tickCount": 3, "labelExpr": f"datum.label + ' {unit}'"},
            "scale": {"zero": False, "nice": True},
        },
    }
    record = {"type": "line", "interpolate": "step-after", "strokeWidth": 3, "point": {"size": 60}}
    layers: list[dict[str, Any]] = [
        {"mark": record, "encoding": {**place, "color": {"value": colours.lines[0]}}}
    ]
    if points:
        mark = {"type": "point", "filled": True, "size": 420, "opacity": 1}
        layers.append(
            {
                "data": {"values": [_row(one, one.author, size_s) for one in points]},
                "mark": mark,
                "encoding": {**place, "color": {"value": colours.lines[1]}},
            }
        )
    rows = [_row(one, _RECORD, size_s) for one in trend.records]
    chart = _chart(rows, layers, colours)
    title = {
        "text": cut(one_line(lines[0]), _CARD_CELLS),
        "subtitle": cut(one_line(lines[1]), 2 * _CARD_CELLS),
        "anchor": "start",
        "fontSize": 30,
        "subtitleFontSize": 17,
        "color": colours.lines[0],
        "subtitleColor": colours.ink,
        "offset": 16,
    }
    size = {"width": _CARD_WIDTH, "height": _CARD_HEIGHT, "padding": 24}
    fit = {"type": "fit", "contains": "padding"}
    return {**chart, **size, "title": title, "autosize": fit}


def _row(one: Score, series: str, size_s: float) -> dict[str, Any]:
    return {"at": one.achieved_at.isoformat(), "score": one.score_s / size_s, "series": series}


def roofline_chart(
    work: RooflineWork, roof: Roof, scores: Sequence[tuple[str, float]], colours: Colours
) -> Chart:
    """How far below a device's limits scores are: both axes are logarithmic. `scores`: names with
    times in seconds, not empty."""
    labels = distinct((name for name, _ in scores), _NAME_CELLS)
    rows = [
        {"intensity": work.intensity, "flops": work.flops / score_s, "series": labels[name]}
        for name, score_s in scores
    ]
    ridge = roof.peak_flops / roof.peak_bytes_per_s
    ends = min(ridge, work.intensity) / 8, ridge, max(ridge, work.intensity) * 8
    limit = [{"intensity": at, "flops": roof.flops_per_s(at)} for at in ends]
    names = [row["series"] for row in rows]
    colour = {
        "field": "series",
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": list(colours.lines[: len(names)])},
    }
    x, y = _log("intensity", "operations per byte"), _log("flops", "operations per second")
    layers = [
        {
            "data": {"values": limit},
            "mark": {"type": "line", "strokeWidth": 2, "color": colours.ink},
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour},
        },
    ]
    return _chart(rows, layers, colours)


def _log(field: str, title: str) -> dict[str, Any]:
    scale = {"type": "log", "nice": True, "zero": False}
    axis = {"format": "~s"}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _chart(rows: list[dict[str, Any]], layer: list[dict[str, Any]], colours: Colours) -> Chart:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": _WIDTH,
        "height": _HEIGHT,
        "background": colours.ground,
        "padding": 8,
        "data": {"values": rows},
        "layer": layer,
        "config": chart_config(colours, labelOverlap=True),
    }


def chart_config(colours: Colours, **axis: object) -> dict[str, Any]:
    """How charts of a page are written; `axis`: what its axes have besides."""
    inks = {"labelColor": colours.ink, "titleColor": colours.ink}
    lines = {"gridColor": colours.grid, "domainColor": colours.grid, "tickColor": colours.grid}
    sizes = {"labelFontSize": 14, "titleFontSize": 14, "titleFontWeight": "normal"}
    return {
        "font": _FONT,
        "axis": {**sizes, **inks, **lines, **axis},
        "legend": {"labelFontSize": 14, "labelColor": colours.ink, "orient": "top"},
        "view": {"stroke": None},
    }
