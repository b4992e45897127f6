"""How long a run waits that the infrastructure has lost."""

import pytest

from kernelbot.protocol import Fault
from kernelbot.runs.ending import _pause_s


@pytest.mark.parametrize(("losses", "longest_s"), [(1, 4), (2, 8), (3, 16), (4, 32), (5, 50)])
def test_a_scheduler_is_left_in_peace_for_longer_each_time(losses: int, longest_s: float) -> None:
    found = {_pause_s(losses, Fault.SCHEDULER) for _ in range(100)}
    assert longest_s / 2 <= min(found) < max(found) <= longest_s


def test_our_own_failure_is_tried_again_at_once_and_then_soon() -> None:
    assert [0, 2, 2] == [_pause_s(losses, Fault.PLATFORM) for losses in (1, 2, 3)]
