"""How long a run waits before its next attempt."""

import random

import pytest

from kernelbot.protocol import Fault
from kernelbot.runs.ending import _pause_s


def test_a_scheduler_is_left_in_peace_ever_longer_and_others_for_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = []

    def least(low: float, high: float) -> float:
        drawn.append((low, high))
        return low

    monkeypatch.setattr(random, "uniform", least)
    of_scheduler = [_pause_s(losses, Fault.SCHEDULER) for losses in range(1, 7)]
    of_others = [_pause_s(losses, Fault.PLATFORM) for losses in range(1, 4)]
    assert ([2, 4, 8, 16, 25, 25], [0, 2, 2]) == (of_scheduler, of_others)
    assert {(0.5, 1.0)} == set(drawn)
