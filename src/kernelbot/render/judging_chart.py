"""A chart of one judging's times as a Vega-Lite document."""

from collections.abc import Sequence
from itertools import chain

from kernelbot.protocol import WorkloadResult
from kernelbot.render.charts import Chart, unit_of
from kernelbot.render.text import distinct

_WIDTH, _ROW = 460, 34
_MOST_SAMPLES = 200
"""Calls that are drawn of one measurement."""
_FARTHEST = 2.0
"""Calls are drawn up to so many times the upper end of the median's interval."""
_NAME_CELLS = 40
_APART = {"labelOverlap": True, "tickCount": 6}
_WIDE = 20.0
"""From this ratio of the slowest to the fastest on, the axis is logarithmic."""
_SERIES = ("this cell", "reference")
_COLOURS = ("#4338ca", "#b45309")
_Row = dict[str, str]
"""The label of a workload, and whose times they are."""


def judging_chart(
    workloads: Sequence[WorkloadResult], reference: Sequence[WorkloadResult] = ()
) -> Chart:
    """A row for each workload: its calls as ticks, the median as a point, and the median's
    95 % interval as a line; the reference's in another colour. `workloads` isn't empty."""
    all_ = [(_SERIES[0], one) for one in workloads] + [(_SERIES[1], one) for one in reference]
    labels = distinct((one.spec for _, one in all_), _NAME_CELLS)
    series = [({"workload": labels[one.spec], "whose": whose}, one) for whose, one in all_]
    medians = [one.median_ns for _, one in series]
    size_s, unit = unit_of(min(medians) / 1e9)
    size_ns = size_s * 1e9
    wide = max(medians) > _WIDE * min(medians)
    scale = {"type": "log"} if wide else {"zero": False, "nice": True}
    time = {"type": "quantitative", "title": f"time in {unit}", "scale": scale}
    row = {"field": "workload", "type": "nominal", "title": None, "sort": list(labels.values())}
    shown = _SERIES if reference else _SERIES[:1]
    both = {
        "y": row,
        "yOffset": {"field": "whose", "sort": list(_SERIES)},
        "color": {
            "field": "whose",
            "type": "nominal",
            "title": None,
            "scale": {"domain": list(shown), "range": list(_COLOURS[: len(shown)])},
            "legend": {"orient": "bottom", "symbolOpacity": 1} if reference else None,
        },
    }
    value = {"x": {"field": "value", **time}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": _WIDTH,
        "height": {"step": _ROW},
        "background": "#ffffff",
        "padding": {"left": 40, "right": 16, "top": 8, "bottom": 8},  # fonts differ in width
        "layer": [
            {
                "data": {
                    "values": list(chain.from_iterable(_samples(*one, size_ns) for one in series))
                },
                "mark": {"type": "tick", "opacity": 0.25, "thickness": 1},
                "encoding": {**value, **both},
            },
            {
                "data": {"values": [_interval(*one, size_ns) for one in series]},
                "mark": {"type": "rule", "size": 3},
                "encoding": {"x": {"field": "low", **time}, "x2": {"field": "high"}, **both},
            },
            {
                "data": {"values": [_median(*one, size_ns) for one in series]},
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {**value, **both},
            },
        ],
        "config": {"axis": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 260, **_APART}},
    }


def _samples(row: _Row, workload: WorkloadResult, size_ns: float) -> list[dict[str, str | float]]:
    """The calls up to twice the interval's upper end, or evenly many of these: calls that something
    else delayed would leave no room for the others."""
    slowest_ns = _FARTHEST * workload.ci95_ns[1]
    ordered = sorted(one for one in workload.samples_ns if one <= slowest_ns)
    step = max(1, -(-len(ordered) // _MOST_SAMPLES))
    return [{**row, "value": one / size_ns} for one in ordered[::step]]


def _interval(row: _Row, workload: WorkloadResult, size_ns: float) -> dict[str, str | float]:
    low_ns, high_ns = workload.ci95_ns
    return {**row, "low": low_ns / size_ns, "high": high_ns / size_ns}


def _median(row: _Row, workload: WorkloadResult, size_ns: float) -> dict[str, str | float]:
    return {**row, "value": workload.median_ns / size_ns}
