"""Patience with one trouble says nothing of another."""

from kernelbot.launchers.rest.patience import Patience


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
