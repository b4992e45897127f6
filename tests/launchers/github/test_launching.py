"""One dispatch for each attempt, whatever GitHub answers."""

import asyncio
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelbot.domain.errors import DeviceRefused, JobRefused, PlatformError, SchedulerError
from kernelbot.launchers.base import JobState, Traits
from kernelbot.protocol import JobSpec, SourceFile, decode_payload
from tests.fakes.github import REPO, TOKEN
from tests.launchers.github.places import place
from tests.launchers.stages import a_job, github_launcher, github_settings
from tests.support.building import product_of

DISPATCHES = "/dispatches"


def a_large_job() -> JobSpec:
    job = a_job("accepted")
    noise = random.Random(1).randbytes(60_000).hex()
    return replace(job, submission=SourceFile("a.py", f"{job.submission.text}# {noise}\n"))


async def test_a_dispatch_says_all_that_a_run_needs(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
    (run,) = here.runs
    assert (handle, run.title) == (f"{run.number}:{job.job_id}", f"kernelbot-{job.job_id}")
    assert decode_payload(run.inputs.pop("payload")) == job
    assert run.inputs == {
        "attempt": job.job_id,
        "runner": "cpu-runner",
        "timeout_minutes": "18",  # the longest of the problem's modes, and ten minutes
        "payload_url": "",
        "events_url": "",
        "harness_url": "",
        "harness_sha256": "",
        "sandbox": "required",
    }


async def test_a_job_too_large_for_the_inputs_is_fetched(tmp_path: Path) -> None:
    job = a_large_job()
    async with place(tmp_path, runners=1) as here:
        assert here.links is not None
        here.links.jobs[job.job_id] = job
        outcome = await here.over(await here.launcher.launch(job))
    (run,) = here.runs
    assert (outcome.state, run.inputs["payload"]) == (JobState.FINISHED, "")
    assert here.links.valid_s[0] > 24 * 3600


async def test_a_job_too_large_that_cant_be_fetched_is_refused(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        with pytest.raises(JobRefused, match="set public_url"):
            await here.launcher.launch(a_large_job())
    assert here.runs == []


async def test_a_job_that_is_too_large_for_what_was_built_goes_without(tmp_path: Path) -> None:
    """Its node builds it again."""
    job = a_job("accepted")
    large = replace(job, product=product_of(random.Random(1).randbytes(60_000)))
    async with place(tmp_path) as here:
        await here.launcher.launch(large)
    (run,) = here.runs
    assert decode_payload(run.inputs["payload"]) == job


@pytest.mark.exhaustive  # each run has test_a_job_too_large_for_the_inputs_is_fetched
async def test_progress_goes_to_the_platform(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path, runners=1) as here:
        assert here.links is not None
        await here.over(await here.launcher.launch(job))
    (body,) = here.links.events[job.job_id]
    assert b'"kind": "started"' in body


@pytest.mark.exhaustive  # each run has test_a_job_too_large_for_the_inputs_is_fetched
@pytest.mark.parametrize("tells", [False, None], ids=["ignores the question", "refuses it"])
async def test_a_github_that_tells_no_number_is_searched_for_the_name(
    tmp_path: Path, tells: bool | None
) -> None:
    job = a_job("accepted")
    async with place(tmp_path, appear_s=5) as here:
        here.github.tells_numbers = tells
        here.github.actions.late_s = 0.3
        handle = await here.launcher.launch(job)
        again = await here.launcher.launch(job)
    assert [handle, again] == [f"{run.number}:{job.job_id}" for run in here.runs] * 2


async def test_a_run_that_was_accepted_and_doesnt_show_isnt_dispatched_again(
    tmp_path: Path,
) -> None:
    job = a_job("accepted")
    async with place(tmp_path, appear_s=0.1) as here:
        here.github.tells_numbers = False
        here.github.actions.late_s = math.inf
        with pytest.raises(SchedulerError, match="doesn't show it"):
            await here.launcher.launch(job)
        here.github.actions.show_all()
        await here.launcher.launch(job)
    assert len(here.runs) == 1


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_dispatch_that_fails_is_looked_for_before_the_next(
    tmp_path: Path, when: str
) -> None:
    job = a_job("accepted")
    async with place(tmp_path, appear_s=0.1, settle_s=0) as here:
        here.github.dispatches_fail = [when]
        if when == "before":
            with pytest.raises(SchedulerError, match="502"):
                await here.launcher.launch(job)
        handle = await here.launcher.launch(job)
    assert [f"{run.number}:{job.job_id}" for run in here.runs] == [handle]


async def test_a_run_that_shows_late_isnt_dispatched_again(tmp_path: Path) -> None:
    """The answer got lost, and the list is behind for longer than a launch waits."""
    job = a_job("accepted")
    async with place(tmp_path, appear_s=0, settle_s=3600) as here:
        here.github.actions.late_s = math.inf
        here.github.dispatches_fail = ["after"]
        for _ in range(3):
            with pytest.raises(SchedulerError, match="502"):
                await here.launcher.launch(job)
        here.github.actions.show_all()
        handle = await here.launcher.launch(job)
    assert [handle] == [f"{run.number}:{job.job_id}" for run in here.runs]


@pytest.mark.exhaustive  # each run has test_a_job_too_large_for_the_inputs_is_fetched
async def test_links_are_valid_for_as_long_as_a_job_may_wait(tmp_path: Path) -> None:
    week_s = 7 * 86_400.0
    traits = Traits(shortest_poll_s=0.05, longest_poll_s=0.2, check_s=1, wait_s=week_s)
    async with place(tmp_path, runners=1, traits=traits) as here:
        assert here.links is not None
        await here.over(await here.launcher.launch(a_job("accepted")))
    assert here.links.valid_s[0] > week_s


async def test_another_process_finds_a_run_whose_answer_was_lost(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path, appear_s=0) as here:
        here.github.actions.late_s = math.inf
        here.github.dispatches_fail = ["after"]
        with pytest.raises(SchedulerError):
            await here.launcher.launch(job)
        here.github.actions.show_all()
        async with github_launcher(github_settings(here.github), None) as another:
            await another.launch(job)
    assert len(here.runs) == 1


@pytest.mark.exhaustive  # each run has test_a_job_too_large_for_the_inputs_is_fetched
async def test_many_launches_at_once_share_what_they_look_at(tmp_path: Path) -> None:
    jobs = [a_job("accepted") for _ in range(60)]
    async with place(tmp_path) as here:
        handles = await asyncio.gather(*(here.launcher.launch(job) for job in jobs))
    assert len(set(handles)) == here.github.asked("POST", DISPATCHES) == 60
    assert here.github.asked("GET", "/runs") <= 3


# Each run has test_what_the_configuration_has_wrong_is_no_fault_of_the_jobs
@pytest.mark.exhaustive
async def test_a_run_is_found_behind_many_newer_ones(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path) as here:
        first = await here.launcher.launch(job)
        await asyncio.gather(*(here.launcher.launch(a_job("accepted")) for _ in range(210)))
        async with github_launcher(github_settings(here.github), None) as another:
            assert await another.launch(job) == first
            assert (await another.poll([first]))[first].state == JobState.WAITING


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"branch": "a'; echo x"}, DeviceRefused, "No ref found for"),
        ({"repo": "lab/other"}, PlatformError, "no lab/other"),
    ],
)
async def test_what_the_configuration_has_wrong_is_no_fault_of_the_jobs(
    tmp_path: Path, changes: dict[str, Any], kind: type[Exception], said: str
) -> None:
    async with place(tmp_path, **changes) as here:
        with pytest.raises(kind, match=said):
            await here.launcher.launch(a_job("accepted"))
    assert here.runs == []


async def test_a_workflow_that_is_gone_refuses_all_of_the_device(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.github.gone = True
        with pytest.raises(DeviceRefused, match=f"{REPO} has no workflow kernelbot-nvidia.yml"):
            await here.launcher.launch(a_job("accepted"))


async def test_a_workflow_that_is_disabled_refuses_all_of_the_device(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.github.disabled = True
        with pytest.raises(DeviceRefused, match=r"is disabled in .*: enable it on GitHub's"):
            await here.launcher.launch(a_job("accepted"))
    assert here.github.asked("POST", DISPATCHES) == 1


async def test_no_token_shows_in_what_is_printed(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        assert TOKEN not in repr(github_settings(here.github))
