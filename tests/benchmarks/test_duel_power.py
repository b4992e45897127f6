"""What the simulation of duels counts."""

import random

import pytest
from benchmarks.duel_decisions import Dueled
from benchmarks.duel_power import MACHINES, Machine, drawn, row, slower

STILL = Machine("still", 0.0, 0.0, 0.0)


def test_without_noise_every_difference_is_decided_and_none_wrongly() -> None:
    assert ("still", "1 x", "0.00%", "0.0%", "100%", "100%", "100%") == row(STILL, 1, 3)


def test_an_opponent_that_takes_longer_makes_the_ratio_smaller() -> None:
    found = slower(Dueled(1.0, 0.99, 1.02, 0.0, 160), 0.02)
    assert pytest.approx((0.980, 0.971, 1.0), abs=0.001) == (found.ratio, found.low, found.high)
    assert 0 == found.says


def test_noise_widens_the_interval() -> None:
    quiet, busy = (drawn(machine, 160, random.Random(1)) for machine in MACHINES)
    assert quiet.high - quiet.low < busy.high - busy.low
