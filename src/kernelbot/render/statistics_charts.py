"""Charts of what was judged on each device, for light and for dark pages."""

from collections.abc import Iterable
from typing import Any

from kernelbot.platform.statistics.model import DeviceStatistics, Statistics
from kernelbot.render.board_charts import LIGHT, Colours, chart_config
from kernelbot.render.charts import Chart
from kernelbot.render.text import distinct

_WIDTH, _STEP = 620, 34
_NAME_CELLS = 24
_LIGHT_ENDS = ("#17693a", "#c77700", "#b3261e", "#9aa1b1")
_DARK_ENDS = ("#6fd897", "#f2bd5c", "#ff9d94", "#5b6373")


def outcomes_chart(found: Statistics, colours: Colours) -> Chart:
    """The runs of each device by how they ended, as stacked bars."""
    labels = _labels(found)
    rows = [row for one in found.devices for row in _outcomes(one, labels[one.device])]
    ends = ["passed", "refused", "our errors", "open"]
    shades = _LIGHT_ENDS if colours is LIGHT else _DARK_ENDS
    encoding = {
        "x": {"field": "runs", "type": "quantitative", "title": "runs", "axis": {"format": "~s"}},
        "color": _colour("ended", ends, shades),
        "order": {"field": "order"},
    }
    return _bars(rows, encoding, colours)


def times_chart(found: Statistics, colours: Colours) -> Chart:
    """How long the runs of each device waited and took, at the median, beside each other."""
    labels = _labels(found)
    rows = [row for one in found.devices for row in _times(one, labels[one.device])]
    kinds = ["waited", "judged"]
    encoding = {
        "x": {"field": "seconds", "type": "quantitative", "title": "seconds, at the median"},
        "yOffset": {"field": "kind", "type": "nominal", "sort": kinds},
        "color": _colour("kind", kinds, colours.lines[1::-1]),
    }
    return _bars(rows, encoding, colours)


def _outcomes(one: DeviceStatistics, label: str) -> Iterable[dict[str, Any]]:
    counts = (one.passes, one.failures, one.errors, one.waiting + one.running)
    names = ("passed", "refused", "our errors", "open")
    for order, (ended, runs) in enumerate(zip(names, counts, strict=True)):
        yield {"device": label, "ended": ended, "runs": runs, "order": order}


def _times(one: DeviceStatistics, label: str) -> Iterable[dict[str, Any]]:
    for kind, seconds in (("waited", one.wait_median_s), ("judged", one.run_median_s)):
        if seconds is not None:
            yield {"device": label, "kind": kind, "seconds": seconds}


def _labels(found: Statistics) -> dict[str, str]:
    return distinct((one.device for one in found.devices), _NAME_CELLS)


def _colour(field: str, names: list[str], colours: Iterable[str]) -> dict[str, Any]:
    scale = {"domain": names, "range": list(colours)}
    return {"field": field, "type": "nominal", "title": None, "scale": scale}


def _bars(rows: list[dict[str, Any]], encoding: dict[str, Any], colours: Colours) -> Chart:
    device = {"field": "device", "type": "nominal", "title": None, "sort": None}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": _WIDTH,
        "height": {"step": _STEP if "yOffset" not in encoding else _STEP // 2},
        "background": colours.ground,
        "padding": 8,
        "data": {"values": rows},
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {"y": device, **encoding},
        "config": chart_config(colours),
    }
