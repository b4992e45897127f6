"""Which intervals are measured again."""

import pytest

from kernelbot.protocol import Mode
from kernelbot.protocol.scoring import RESOLUTION_NS
from kernelbot.runs.repeats import MAX_REPEATS, is_too_wide, is_unranked_text, unranked_if_busy
from tests.fakes.host import result_of
from tests.harness.jobs import SORT, a_job


@pytest.mark.parametrize(
    ("score_s", "ci95_s", "expected"),
    [
        (1e-3, (0.9e-3, 1.1e-3), False),
        (1e-3, (0.89e-3, 1.12e-3), True),
        (1.0, (0.9 - RESOLUTION_NS / 1e9, 1.1 + RESOLUTION_NS / 1e9), False),
        (2e-6, (1.4e-6, 2.6e-6), False),  # as near as calls of two microseconds can be told
        (2e-6, (1e-6, 3e-6), True),
        (1e-3, (1e-3 - 1e-4 - 5e-7, 1e-3 + 1e-4 + 5e-7), False),
        (1e-3, (0.0, 2 * (0.1 * 1e-3 + 500.0 / 1e9) * (1 + 1e-9)), False),
    ],
)
def test_an_interval_wider_than_a_tenth_either_way_is(
    score_s: float, ci95_s: tuple[float, float], expected: bool
) -> None:
    assert expected == is_too_wide(score_s, ci95_s)


def test_the_text_of_a_busy_machine_is_known_again() -> None:
    job = a_job(SORT, mode=Mode.LEADERBOARD, secret=True)
    unranked = unranked_if_busy(result_of(job, ["accepted", "busy"]))
    assert unranked.failure is not None
    assert is_unranked_text(unranked.failure.message)
    assert not is_unranked_text(f"{unranked.failure.message} SECRET")
    assert not is_unranked_text(None)


def test_a_run_is_measured_again_three_times() -> None:
    assert 3 == MAX_REPEATS


def test_a_quiet_machine_leaves_the_result_as_it_is() -> None:
    quiet = result_of(a_job(SORT, mode=Mode.LEADERBOARD, secret=True), ["accepted"])
    assert quiet == unranked_if_busy(quiet)
