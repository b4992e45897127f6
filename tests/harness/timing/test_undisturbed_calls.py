"""What a call usually costs is known from those that didn't have to wait."""

from dataclasses import replace

from kernelbot.harness.timing.control_calls import ControlCalls
from tests.harness.timing.test_plausibility import MARKS, US


def test_calls_that_waited_make_no_call_usually_longer() -> None:
    seen = ControlCalls(on_gpu=False)
    quiet = replace(MARKS, kept_waiting_ns=0)
    waited = replace(MARKS, bracket_ns=130 * US, kept_waiting_ns=100 * US)
    for window in (*[quiet] * 5, *[waited] * 6):
        seen.add(window)
    assert 30 * US == seen.baseline().usual.took_ns
