"""Charts as Vega-Lite documents: readable on a phone, in a light and in a dark chat."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from kernelbot.platform.statistics.model import Statistics
from kernelbot.ranking.model import Score
from kernelbot.render.text import one_line

Chart = dict[str, Any]
"""A Vega-Lite document."""

_WIDTH, _HEIGHT = 560, 300
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SHORT = timedelta(minutes=5)
_WIDE = 20.0
"""From this ratio of the slowest to the fastest on, the axis is logarithmic."""
_COLOURS = {"passed": "#2e7d32", "failed": "#c77700", "errors": "#b3261e"}


def time_axis(moments: Sequence[datetime]) -> dict[str, Any]:
    """The axis for these times: within minutes, Vega would write fractions of a second alone."""
    if moments and max(moments) - min(moments) < _SHORT:
        return {"title": None, "format": "%H:%M:%S", "tickCount": 4}
    return {"title": None}


def progress_chart(title: str, achieved: Sequence[Score]) -> Chart:
    """Scores over time as points, and the best until then as a line. `achieved` isn't empty."""
    size_s, unit = unit_of(min(one.score_s for one in achieved))
    rows = []
    best_s = float("inf")
    for one in achieved:
        best_s = min(best_s, one.score_s)
        rows.append(
            {"at": _stamp(one.achieved_at), "score": one.score_s / size_s, "best": best_s / size_s}
        )
    wide = max(one.score_s for one in achieved) > _WIDE * min(one.score_s for one in achieved)
    scale = {"type": "log"} if wide else {"zero": False, "nice": True}
    time = {
        "field": "at",
        "type": "temporal",
        "axis": time_axis([one.achieved_at for one in achieved]),
    }
    axis = {"title": f"score in {unit}", "scale": scale, "type": "quantitative"}
    return _chart(
        title,
        rows,
        [
            {
                "mark": {"type": "line", "interpolate": "step-after", "color": "#1565c0"},
                "encoding": {"x": time, "y": {"field": "best", **axis}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "color": "#1565c0"},
                "encoding": {"x": time, "y": {"field": "score", **axis}},
            },
        ],
    )


def statistics_chart(title: str, found: Statistics) -> Chart:
    """The runs of each device by how they ended, as stacked bars."""
    rows = [
        {"device": one_line(one.device), "ended": ended, "runs": count}
        for one in found.devices
        for ended, count in (
            ("passed", one.passes),
            ("failed", one.failures),
            ("errors", one.errors),
        )
    ]
    colour = {"domain": list(_COLOURS), "range": list(_COLOURS.values())}
    bars = {
        "mark": {"type": "bar"},
        "encoding": {
            "y": {"field": "device", "type": "nominal", "title": None},
            "x": {"field": "runs", "type": "quantitative", "title": "runs"},
            "color": {"field": "ended", "type": "nominal", "title": None, "scale": colour},
        },
    }
    return _chart(title, rows, [bars])


def _chart(title: str, rows: list[dict[str, Any]], layer: list[dict[str, Any]]) -> Chart:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": one_line(title),
        "width": _WIDTH,
        "height": _HEIGHT,
        "background": "#ffffff",
        "padding": 16,
        "data": {"values": rows},
        "layer": layer,
        "config": {
            "title": {"fontSize": 20},
            "axis": {"labelFontSize": 15, "titleFontSize": 15, "labelOverlap": True},
            "legend": {"labelFontSize": 15, "orient": "bottom"},
        },
    }


def unit_of(seconds: float) -> tuple[float, str]:
    """The size in seconds, and the name, of the unit in which a time is written."""
    for size_s, unit in _UNITS:
        if seconds >= size_s:
            return size_s, unit
    return _UNITS[-1]


def _stamp(at: datetime) -> str:
    return at.isoformat()
