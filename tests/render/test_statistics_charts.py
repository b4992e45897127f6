"""Statistics as charts."""

import json
from dataclasses import replace

import pytest

from kernelbot.platform.statistics.model import DeviceStatistics, Statistics
from kernelbot.render.board_charts import DARK, LIGHT, Colours
from kernelbot.render.statistics_charts import outcomes_chart, times_chart


def statistics_of(*devices: DeviceStatistics) -> Statistics:
    return Statistics(
        board=None,
        last_day=False,
        boards=1,
        submissions=1,
        authors=1,
        runs=9,
        passes=1,
        devices=devices,
    )


CPU = DeviceStatistics("CPU", 9, 1, 2, 3, 1, 2, 0.5, 4.0, 12.0, 99.0)
IDLE = DeviceStatistics("<b>\u202e\n" + "x" * 100, 0, 0, 0, 0, 0, 0, None, None, None, 0.0)


def test_every_run_of_a_device_is_in_its_bar() -> None:
    rows = outcomes_chart(statistics_of(CPU), LIGHT)["data"]["values"]
    assert {"passed": 1, "refused": 2, "our errors": 3, "open": 3} == {
        row["ended"]: row["runs"] for row in rows
    }


def test_times_are_those_that_there_are() -> None:
    rows = times_chart(statistics_of(CPU, IDLE), LIGHT)["data"]["values"]
    assert [("CPU", "waited", 0.5), ("CPU", "judged", 12.0)] == [
        (row["device"], row["kind"], row["seconds"]) for row in rows
    ]


def test_devices_that_are_equal_once_shortened_have_a_bar_each() -> None:
    found = statistics_of(*(replace(CPU, device=f"{'x' * 30}{n}") for n in (1, 2)))
    for chart in (outcomes_chart(found, LIGHT), times_chart(found, LIGHT)):
        assert 2 == len({row["device"] for row in chart["data"]["values"]})


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_hostile_names_are_one_short_line(colours: Colours) -> None:
    chart = outcomes_chart(statistics_of(IDLE), colours)
    name = chart["data"]["values"][0]["device"]
    assert (True, "<b>\\u202e\\n") == (len(name) <= 24, name[:11])
    assert colours.ground == json.loads(json.dumps(chart))["background"]
