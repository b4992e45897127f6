"""Buildkite's limits as they are by default, in virtual time."""

import pytest

from tests.launchers.buildkite.simulated import JUDGE_S, Course, simulate


@pytest.fixture(scope="module", params=[1, 7, 20, 50])
def course(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Course:
    with pytest.MonkeyPatch.context() as patch:
        return simulate(patch, tmp_path_factory.mktemp("agents"), request.param)


def test_no_limit_is_ever_met(course: Course) -> None:
    assert course.refused == 0


def test_no_minute_passes_in_silence(course: Course) -> None:
    assert course.longest_silence_s < 15


def test_a_device_with_much_to_do_is_available(course: Course) -> None:
    assert course.unavailable <= 1  # until it was asked first


def test_a_single_job_is_noticed_at_once(course: Course) -> None:
    if course.judged == 1:
        assert (course.waits_s[0] < 8, course.took_s < JUDGE_S + 15) == (True, True)
