"""The contract of `launchers/base.py`, held against every launcher."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot.domain.errors import KernelbotError
from kernelbot.launchers.base import JobState, Launcher, Outcome
from kernelbot.protocol import Verdict
from tests.launchers.plans import DEVICE
from tests.launchers.stages import STAGES, Stage, a_job, started
from tests.support.exhaustive import cases
from tests.support.results import result_in, why_none


@pytest.fixture(params=cases(STAGES, always=["local", "modal"]))
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with STAGES[request.param](tmp_path, request) as opened:
        yield opened


async def poll(launcher: Launcher, handle: str) -> Outcome:
    return (await launcher.poll([handle]))[handle]


async def over(launcher: Launcher, handle: str) -> Outcome:
    """What the job ends with."""
    async with asyncio.timeout(60):
        while True:
            outcome = await poll(launcher, handle)
            if outcome.state.is_over:
                return outcome
            await asyncio.sleep(0.05)


async def running(stage: Stage, handle: str, job_id: str) -> None:
    """Return once the job has begun."""
    async with asyncio.timeout(60):
        while job_id not in stage.judged():  # noqa: ASYNC110  # another process begins it
            await asyncio.sleep(0.05)
    assert not (await poll(stage.launcher, handle)).state.is_over


async def test_a_job_has_a_result(stage: Stage) -> None:
    job = a_job("accepted")
    outcome = await over(stage.launcher, await stage.launcher.launch(job))
    result = result_in(outcome, job)
    assert (outcome.state, result.verdict, result.job_id) == (
        JobState.FINISHED,
        Verdict.ACCEPTED,
        job.job_id,
    )


async def test_launching_twice_starts_once(stage: Stage) -> None:
    job = a_job("accepted")
    first = await stage.launcher.launch(job)
    second = await stage.launcher.launch(job)
    await over(stage.launcher, first)
    third = await stage.launcher.launch(job)
    await over(stage.launcher, third)
    assert (first, first, 1) == (second, third, len(stage.judged()))


async def test_a_launch_repeated_by_another_process_finds_the_first(stage: Stage) -> None:
    job = a_job("accepted")
    first = await stage.launcher.launch(job)
    await over(stage.launcher, first)
    async with started(stage.plan.build()) as another:
        second = await another.launch(job)
        outcome = await over(another, second)
    assert (outcome.state, first, 1) == (JobState.FINISHED, second, len(stage.judged()))


async def test_a_job_whose_answer_was_lost_is_found(stage: Stage) -> None:
    job = a_job("accepted")
    assert await stage.launcher.find(job.job_id) is None
    handle = await stage.launcher.launch(job)
    assert handle == await stage.launcher.find(job.job_id)
    await over(stage.launcher, handle)
    await stage.launcher.forget(handle)
    assert 1 == len(stage.judged())


async def test_many_are_asked_for_at_once(stage: Stage) -> None:
    jobs = [a_job("accepted") for _ in range(5)]
    handles = [await stage.launcher.launch(job) for job in jobs]
    for handle in handles:
        await over(stage.launcher, handle)
    found = await stage.launcher.poll([*handles, stage.unknown_handle])
    results = [result_in(found[h], job) for h, job in zip(handles, jobs, strict=True)]
    assert [result.job_id for result in results] == [job.job_id for job in jobs]
    assert found.keys() == {*handles, stage.unknown_handle}


async def test_a_result_stays_until_it_is_forgotten(stage: Stage) -> None:
    handle = await stage.launcher.launch(a_job("accepted"))
    await over(stage.launcher, handle)
    async with started(stage.plan.build()) as another:
        assert (await poll(another, handle)).state == JobState.FINISHED
    assert (await poll(stage.launcher, handle)).state == JobState.FINISHED
    for _ in range(2):
        await stage.launcher.forget(handle)
    assert (await over(stage.launcher, handle)).state == JobState.LOST
    assert await stage.left() == []


async def test_a_result_is_brought_as_it_is(stage: Stage) -> None:
    job = a_job("garbage")
    outcome = await over(stage.launcher, await stage.launcher.launch(job))
    assert (outcome.state, "can't be read" in why_none(outcome, job)) == (JobState.FINISHED, True)


async def test_a_result_is_not_fetched_beyond_what_it_can_be(stage: Stage) -> None:
    handle = await stage.launcher.launch(a_job("long 600000"))
    await over(stage.launcher, handle)
    found = await stage.launcher.poll([handle], {handle: 100_000})
    assert (found[handle].state, found[handle].left) == (JobState.LOST, None)
    assert "more than 0 MiB" in found[handle].reason


async def test_a_judge_that_dies_loses_the_job(stage: Stage) -> None:
    outcome = await over(stage.launcher, await stage.launcher.launch(a_job("die")))
    assert (outcome.state, bool(outcome.reason)) == (JobState.LOST, True)


@pytest.mark.parametrize("handle", [None, "", "a'; echo x", "../../etc", "7/../..", "\0", "-1"])
async def test_an_unknown_handle_is_lost_and_hurts_nobody(stage: Stage, handle: str | None) -> None:
    named = stage.unknown_handle if handle is None else handle
    launcher = stage.launcher
    await launcher.cancel(named)
    await launcher.forget(named)
    assert [batch async for batch in launcher.events(named)] == []
    assert (await over(launcher, named)).state == JobState.LOST


async def test_a_cancelled_job_ends_without_a_result(stage: Stage) -> None:
    job = a_job("sleep 60 accepted")
    handle = await stage.launcher.launch(job)
    await running(stage, handle, job.job_id)
    for _ in range(2):
        await stage.launcher.cancel(handle)
    assert (await over(stage.launcher, handle)).state == JobState.LOST
    await stage.launcher.cancel(handle)


async def test_a_state_that_nobody_knows_is_no_end(stage: Stage) -> None:
    job = a_job("sleep 60 accepted")
    handle = await stage.launcher.launch(job)
    await running(stage, handle, job.job_id)
    stage.confuse(handle)
    states = [(await poll(stage.launcher, handle)).state for _ in range(3)]
    await stage.launcher.cancel(handle)
    assert {False} == {state.is_over for state in states}


async def test_cancelling_what_has_ended_takes_no_result_away(stage: Stage) -> None:
    handle = await stage.launcher.launch(a_job("accepted"))
    await over(stage.launcher, handle)
    await stage.launcher.cancel(handle)
    assert (await poll(stage.launcher, handle)).state == JobState.FINISHED


async def test_events_end(stage: Stage) -> None:
    handle = await stage.launcher.launch(a_job("accepted"))
    async with asyncio.timeout(60):
        async for batch in stage.launcher.events(handle):
            assert batch


async def test_a_device_of_somewhere_else_is_refused(stage: Stage) -> None:
    with pytest.raises(KernelbotError):
        await stage.launcher.launch(a_job("accepted", device="a'; echo x"))
    assert not (await stage.launcher.availability("a'; echo x")).available


async def test_its_own_device_is_available(stage: Stage) -> None:
    found = await stage.launcher.availability(DEVICE)
    assert (found.available, found.note) == (True, "")


async def test_starting_and_closing_may_be_repeated(stage: Stage) -> None:
    await stage.launcher.start()
    for _ in range(2):
        await stage.launcher.close()


async def test_its_rhythm_makes_sense(stage: Stage) -> None:
    traits = stage.launcher.traits
    assert 0 <= traits.shortest_poll_s <= traits.longest_poll_s < traits.silence_s
