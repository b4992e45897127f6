"""The smallest figures that are believed."""

from dataclasses import replace
from typing import Any

import pytest

from kernelbot.protocol import WorkloadResult
from kernelbot.protocol.result_rules import held_to
from kernelbot.protocol.waits import waited_share
from tests.protocol.test_result_rules import SCRIPT, script_result
from tests.support.honest import WITHIN_S


@pytest.mark.parametrize("change", [{"best_ns": 0.5}, {"worst_ns": 0.5}, {"stdev_ns": 0.0}])
def test_a_script_may_report_less_than_a_nanosecond(change: dict[str, Any]) -> None:
    result = script_result(**change)
    assert result == held_to(SCRIPT, result, WITHIN_S)


def test_a_single_window_that_waited_is_all_of_them() -> None:
    load = WorkloadResult("n: 1", (1.0,), 1.0, 1.0, 0.0, (1.0, 1.0), 1.0, 1.0)
    assert 1.0 == waited_share(replace(load, waited=1))
    assert 0.0 == waited_share(replace(load, samples_ns=(), waited=0))
