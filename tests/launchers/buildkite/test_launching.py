"""One build for each attempt, on a queue of its device, whatever Buildkite answers."""

import asyncio
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.domain.errors import JobRefused, PlatformError, SchedulerError
from kernelbot.launchers.base import Availability, JobState
from kernelbot.launchers.buildkite.answers import Agent
from kernelbot.launchers.buildkite.queues import Queues
from kernelbot.launchers.buildkite.settings import STEP_TIMEOUT_S
from kernelbot.protocol import JobSpec, SourceFile, Timeouts, decode_payload
from tests.fakes.buildkite.agents import ROOT, FakeAgent, read_step
from tests.launchers.buildkite.places import place
from tests.launchers.plans import DEVICE
from tests.launchers.stages import a_job
from tests.support.exhaustive import cases

QUEUES = ("nvidia-h100-0", "nvidia-h100-1")


def a_large_job() -> JobSpec:
    job = a_job("accepted")
    noise = random.Random(1).randbytes(100_000).hex()
    return replace(job, submission=SourceFile("a.py", f"{job.submission.text}# {noise}\n"))


async def test_a_build_says_all_that_an_agent_needs(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
    (build,) = here.builds
    assert (handle, build.message) == (f"{build.number}:{job.job_id}", f"kernelbot-{job.job_id}")
    assert sorted(build.env) == ["GPU_QUEUE", "SUBMISSION_ATTEMPT", "SUBMISSION_PAYLOAD"]
    assert decode_payload(build.env["SUBMISSION_PAYLOAD"]) == job
    assert build.env["GPU_QUEUE"] in QUEUES


async def test_a_job_too_large_for_a_variable_is_fetched(tmp_path: Path) -> None:
    job = a_large_job()
    async with place(tmp_path, working=True, linked=True) as here:
        here.links.jobs[job.job_id] = job
        outcome = await here.over(await here.launcher.launch(job))
    assert outcome.state == JobState.FINISHED
    assert "SUBMISSION_PAYLOAD" not in here.builds[0].env
    assert b'"kind": "started"' in here.links.events[job.job_id][0]


async def test_a_job_too_large_that_cant_be_fetched_is_refused(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        with pytest.raises(JobRefused, match="set public_url"):
            await here.launcher.launch(a_large_job())
    assert here.builds == []


async def test_a_job_that_may_outlast_its_step_is_refused(tmp_path: Path) -> None:
    longer = a_job("accepted")
    shorter = replace(longer, problem=replace(longer.problem, timeouts=Timeouts(1, 1, 1, 1)))
    async with place(tmp_path, step_timeout_s=400, slack_s=120) as here:
        with pytest.raises(JobRefused, match="step at Buildkite ends after 400 s"):
            await here.launcher.launch(longer)
        await here.launcher.launch(replace(shorter, job_id="8.1.0123456789ab"))
    assert 1 == len(here.builds)


def test_the_steps_limit_is_the_one_that_is_believed() -> None:
    step = read_step((ROOT / "deploy" / "buildkite" / "pipeline.yml").read_text(), {})
    assert 60 * step["timeout_in_minutes"] == STEP_TIMEOUT_S


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_creation_that_fails_is_looked_for_before_the_next(
    tmp_path: Path, when: str
) -> None:
    job = a_job("accepted")
    async with place(tmp_path, appear_s=0.1, settle_s=0) as here:
        here.buildkite.creations_fail = [when]
        if when == "before":
            with pytest.raises(SchedulerError, match="502"):
                await here.launcher.launch(job)
        handle = await here.launcher.launch(job)
    assert [f"{build.number}:{job.job_id}" for build in here.builds] == [handle]


async def test_many_launches_at_once_share_what_they_look_at(tmp_path: Path) -> None:
    jobs = [a_job("accepted") for _ in range(60)]
    async with place(tmp_path) as here:
        handles = await asyncio.gather(*(here.launcher.launch(job) for job in jobs))
    assert len(set(handles)) == here.buildkite.asked("POST", "/builds") == 60
    assert here.buildkite.asked("GET", "/builds") <= 3


@pytest.mark.parametrize("whose", cases(["organization", "user"], always=["user"]))
async def test_a_limit_that_ends_soon_is_waited_for(tmp_path: Path, whose: str) -> None:
    async with place(tmp_path, limited=True) as here:
        limit = getattr(here.buildkite.limits, whose)
        limit.left = 0
        limit.resets_in(0.3)
        await here.launcher.launch(a_job("accepted"))
    assert len(here.builds) == 1


@pytest.mark.parametrize("whose", ["organization", "user"])
async def test_a_limit_that_is_used_up_makes_the_device_unavailable(
    tmp_path: Path, whose: str
) -> None:
    async with place(tmp_path) as here:
        await here.launcher.launch(a_job("accepted"))
        getattr(here.buildkite.limits, whose).left = 1
        await here.launcher.cancel("1:1.1.ffffffffffff")
        found = await here.launcher.availability(DEVICE)
    assert (found.available, "rate limit is used up for" in found.note) == (False, True)


@pytest.mark.exhaustive  # each run has test_many_launches_at_once_share_what_they_look_at
async def test_agents_of_every_page_are_seen(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        others = [FakeAgent(f"others-{number}", tmp_path) for number in range(100)]
        mine = [FakeAgent(queue, tmp_path) for queue in (QUEUES[1], "uploads")]
        here.buildkite.agents.agents = [*others, *mine]
        found = await here.launcher.availability(DEVICE)
        await here.launcher.launch(a_job("accepted"))
    assert (found, here.builds[0].env["GPU_QUEUE"]) == (Availability(True), QUEUES[1])


async def test_without_an_agent_that_uploads_the_device_is_unavailable(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.buildkite.agents.agents = [FakeAgent(QUEUES[0], tmp_path)]
        assert await here.launcher.availability(DEVICE) == Availability(
            False, "no agent is connected for uploads, which uploads the step that judges"
        )


async def test_a_pipeline_that_isnt_there_is_the_platforms_failure(tmp_path: Path) -> None:
    async with place(tmp_path, pipeline="other") as here:
        with pytest.raises(PlatformError, match="there is no pipeline lab/other"):
            await here.launcher.launch(a_job("accepted"))
        found = await here.launcher.availability(DEVICE)
    assert (found.available, "lab/other" in found.note) == (False, True)


async def test_a_token_revoked_in_the_middle_is_our_failure(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.buildkite.token = "bkua_other"
        for call in (here.poll(handle), here.launcher.availability(DEVICE)):
            with pytest.raises(PlatformError, match="set a valid BUILDKITE_API_TOKEN"):
                await call


async def test_without_an_agent_the_device_is_unavailable(tmp_path: Path) -> None:
    async with place(tmp_path, upload_queue=None) as here:
        assert await here.launcher.availability(DEVICE) == Availability(
            False, "no agent is connected for nvidia-h100-0, nvidia-h100-1"
        )


async def test_agents_that_we_may_not_see_are_believed_in(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.buildkite.shows_agents = False
        assert (await here.launcher.availability(DEVICE)).available


def agent(queue: str, *, busy: bool = False, connected: bool = True) -> Agent:
    document = {
        "name": queue,
        "connection_state": "connected" if connected else "lost",
        "meta_data": ["gpu-index=0", f"queue={queue}"],
        "job": {"id": "x"} if busy else None,
    }
    return Agent.model_validate_json(json.dumps(document))


def test_an_idle_queue_gets_the_next_job() -> None:
    queues = Queues()
    queues.see([agent("a-b-0", busy=True), agent("a-b-1"), agent("a-b-2", connected=False)])
    assert queues.choose(("a-b-0", "a-b-1", "a-b-2")) == "a-b-1"


def test_busy_queues_take_turns() -> None:
    queues = Queues()
    queues.see([agent("a-b-0", busy=True), agent("a-b-1", busy=True)])
    chosen = [queues.choose(("a-b-0", "a-b-1", "a-b-2")) for _ in range(4)]
    assert sorted(chosen) == ["a-b-0", "a-b-0", "a-b-1", "a-b-1"]


def test_queues_that_nobody_can_see_take_turns() -> None:
    queues = Queues()
    queues.see(None)
    assert {queues.choose(("a-b-0", "a-b-1")) for _ in range(2)} == {"a-b-0", "a-b-1"}
    assert queues.why_not(("a-b-0",)) == ""


def test_an_agent_without_tags_listens_to_the_default() -> None:
    found = Agent.model_validate_json('{"name": "x", "meta_data": ["gpu", "a=b=c"]}')
    assert found.queue == "default"
