"""Limits of how many requests there may be, and what becomes of jobs meanwhile."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.domain.errors import RateLimited, SchedulerError
from kernelbot.launchers.base import Availability, JobState
from tests.fakes.github import TOKEN
from tests.fakes.github.server import Account
from tests.fakes.scheduler import TRAITS
from tests.launchers.github.places import place, result_zip
from tests.launchers.plans import DEVICE
from tests.launchers.stages import a_job
from tests.support.waiting import until


async def test_a_secondary_limit_that_says_no_time_makes_the_device_unavailable(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        here.github.accounts[TOKEN].secondary = True
        launching = asyncio.create_task(here.launcher.launch(a_job("accepted")))
        await until(lambda: here.github.requests)
        await until(here.launcher._api.used_up)
        found = await here.launcher.availability(DEVICE)
        launching.cancel()
    assert found == Availability(False, "GitHub's rate limit is used up for 60 s")


async def test_a_limit_that_is_used_up_makes_the_device_unavailable(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.github.accounts[TOKEN] = Account(left=3, resets_in_s=40)
        await here.launcher.launch(a_job("accepted"))
        await here.launcher.cancel("17:1.1.a")
        found = await here.launcher.availability(DEVICE)
    assert (found.available, "rate limit is used up for" in found.note) == (False, True)


async def test_a_clock_an_hour_off_makes_no_limit_longer(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.github.clock_ahead_s = 3600
        here.github.accounts[TOKEN] = Account(left=0, resets_in_s=300)
        with pytest.raises(SchedulerError, match=r"used up for (299|300|301) s"):
            await here.launcher.launch(a_job("accepted"))


async def test_a_result_outlives_a_limit_that_lasts_longer_than_patience(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path, traits=replace(TRAITS, silence_s=0.0)) as here:
        handle = await here.launcher.launch(job)
        here.github.actions.end(here.runs[0], "success", result_zip(job))
        here.github.accounts[TOKEN] = Account(left=1, resets_in_s=3000)  # for the list alone
        outcomes = [await here.poll(handle) for _ in range(2)]
        assert here.launcher._api.used_up()
    assert [JobState.RUNNING] * 2 == [outcome.state for outcome in outcomes]


async def test_a_limit_is_told_with_its_end(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.github.accounts[TOKEN] = Account(left=0, resets_in_s=3000)
        with pytest.raises(RateLimited, match="rate limit is used up for") as limited:
            await here.poll(handle)
    assert 1000 < limited.value.for_s <= 3001
