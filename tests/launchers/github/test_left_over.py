"""Runs that can't be deleted yet are tried again, ever more rarely."""

import asyncio
import itertools
import time

import pytest

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.github.left_over import LeftOverRuns
from tests.support.virtual_time import run_virtually

HOUR_S = 3600.0


class Github:
    """Knows what is asked of it, and when."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, float]] = []
        self.ended: set[str] = set()
        self.fails: Exception | None = None

    async def delete(self, number: str) -> bool:
        self.asked.append((number, time.monotonic()))
        if self.fails is not None:
            raise self.fails
        return number in self.ended

    def times_s(self, number: str) -> list[float]:
        return [round(at, 1) for asked, at in self.asked if asked == number]


def test_the_pause_doubles_up_to_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> list[float]:
        github = Github()
        runs = LeftOverRuns(github.delete)
        await runs.delete("1")
        await asyncio.sleep(5 * HOUR_S)
        await runs.close()
        return github.times_s("1")

    times_s = run_virtually(monkeypatch, run)
    assert times_s[:9] == [0, 15, 45, 105, 225, 465, 945, 1905, 3825]
    assert [b - a for a, b in itertools.pairwise(times_s[8:])] == [HOUR_S] * 3


def test_a_run_that_has_ended_is_deleted_and_then_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> dict[str, list[float]]:
        github = Github()
        runs = LeftOverRuns(github.delete)
        github.ended = {"2"}
        for number in ("1", "2"):
            await runs.delete(number)
        await asyncio.sleep(20)
        github.ended = {"1", "2"}
        await asyncio.sleep(HOUR_S)
        github.ended = set()
        await runs.delete("3")  # the task has come to its end, and begins again
        await asyncio.sleep(20)
        await runs.close()
        return {number: github.times_s(number) for number in ("1", "2", "3")}

    found = run_virtually(monkeypatch, run)
    assert found == {"1": [0, 15, 45], "2": [0], "3": [3620, 3635]}


@pytest.mark.parametrize("error", [SchedulerError("GitHub can't be reached."), KeyError("id")])
def test_what_fails_is_tried_again(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    async def run() -> list[float]:
        github = Github()
        runs = LeftOverRuns(github.delete)
        github.fails = error
        with pytest.raises(type(error)):
            await runs.delete("1")
        await asyncio.sleep(20)
        github.fails, github.ended = None, {"1"}
        await asyncio.sleep(HOUR_S)
        await runs.close()
        return github.times_s("1")

    assert run_virtually(monkeypatch, run) == [0, 15, 45]


def test_of_too_many_the_oldest_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> list[str]:
        github = Github()
        runs = LeftOverRuns(github.delete)
        for number in range(1002):
            await runs.delete(str(number))
        github.asked.clear()
        await asyncio.sleep(20)
        await runs.close()
        return sorted((number for number, _ in github.asked), key=int)

    assert run_virtually(monkeypatch, run) == [str(number) for number in range(2, 1002)]
