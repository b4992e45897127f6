"""What is simulated of sampling that goes on while an interval is too wide."""

import random

import pytest
from benchmarks.sequential import MACHINES, Measured, submission, truth_ns

NOISY = next(machine for machine in MACHINES if machine.name == "quiet, calls differ")
QUIET = MACHINES[0]


def submissions(count: int, *, goes_on: bool) -> list[Measured]:
    draw = random.Random(3)
    return [submission(NOISY, draw, goes_on=goes_on) for _ in range(count)]


def test_less_is_measured_again_if_sampling_goes_on() -> None:
    before, now = (submissions(40, goes_on=goes_on) for goes_on in (False, True))
    assert sum(one.repeats for one in now) < sum(one.repeats for one in before)
    assert sum(one.took_s for one in now) < sum(one.took_s for one in before)


@pytest.mark.exhaustive  # each run has test_less_is_measured_again_if_sampling_goes_on
def test_and_its_intervals_hold_the_truth_as_often() -> None:
    truth = truth_ns(NOISY)
    held = sum(one.ci95_ns[0] <= truth <= one.ci95_ns[1] for one in submissions(60, goes_on=True))
    assert held >= 54


def test_what_is_narrow_is_measured_once() -> None:
    assert 0 == submission(QUIET, random.Random(0), goes_on=False).repeats
