"""Patience with one trouble says nothing of another, and has an end."""

from kernelbot.domain.errors import PlatformError, RateLimited
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.patience import RUNNING, Patience
from kernelbot.protocol import Fault


def test_each_trouble_of_each_job_has_its_own_time() -> None:
    now = 0.0
    patience = Patience(lambda: now)
    patience.since("1", "late")
    now = 1000.0
    found = [patience.since("1", "late"), patience.since("1", "down"), patience.since("2", "late")]
    assert found == [1000.0, 0.0, 0.0]


def test_what_is_over_begins_anew() -> None:
    now = 0.0
    patience = Patience(lambda: now)
    for trouble in ("late", "down", "cut"):
        patience.since("1", trouble)
    now = 1000.0
    patience.over("1", "late", "down")
    patience.over("2", "late")
    now = 1001.0
    found = [patience.since("1", trouble) for trouble in ("late", "down", "cut")]
    assert found == [0.0, 0.0, 1001.0]


def test_a_job_that_is_forgotten_begins_anew() -> None:
    now = 0.0
    patience = Patience(lambda: now)
    patience.since("1", "late")
    now = 1000.0
    patience.forget("1")
    assert patience.since("1", "late") == 0.0


def test_a_job_goes_on_as_it_was_told_last() -> None:
    patience = Patience()
    waiting = Outcome(JobState.WAITING, reason="others are before it")
    found = [patience.still("1"), patience.told("1", waiting), patience.still("1")]
    patience.told("1", RUNNING)
    found.append(patience.still("1"))
    patience.told("1", waiting)
    patience.forget("1")
    found.append(patience.still("1"))
    assert [RUNNING, waiting, waiting, RUNNING, RUNNING] == found


def test_what_fails_for_as_long_as_a_scheduler_may_be_silent_is_lost() -> None:
    patience = Patience(iter((5.0, 64.9, 65.0)).__next__)
    waiting = patience.told("1", Outcome(JobState.WAITING))
    error = PlatformError("no rights")
    found = [patience.failing("1", "unread", error, 60.0) for _ in range(3)]
    lost = Outcome(JobState.LOST, reason="no rights", fault=Fault.PLATFORM)
    assert [waiting, waiting, lost] == found


def test_a_limit_of_requests_is_no_silence() -> None:
    patience = Patience(iter((0.0, 1001.0)).__next__)
    errors = (PlatformError("down"), RateLimited("slow down", for_s=10), PlatformError("down"))
    found = [patience.failing("1", "unread", error, 60.0) for error in errors]
    assert [RUNNING] * 3 == found
