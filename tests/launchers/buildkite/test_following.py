"""What becomes of builds, and what Buildkite and nodes say that they should not."""

import asyncio
import json
import resource
import secrets
from pathlib import Path

import pytest

from kernelbot.domain.errors import SchedulerError
from kernelbot.harness.archive import build as build_harness
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.patience import Patience
from kernelbot.protocol import Fault, Verdict
from kernelbot.protocol.result_size import most_bytes
from tests.fakes.buildkite import fake_buildkite
from tests.fakes.buildkite.agents import FakeFile
from tests.fakes.serving import Request, Response
from tests.launchers.buildkite.places import Place, place, result_file
from tests.launchers.stages import a_job, buildkite_launcher, buildkite_settings
from tests.support.results import result_in, why_none
from tests.support.searching import MARK, bare_job, searching_submission
from tests.support.waiting import until

NONSENSE = [b"", b"<html>502 Bad Gateway</html>", b"{}", b"\xff\xfe\x00"]


def answers(here: Place, ending: str, response: Response) -> None:
    """From now on, to requests of such paths."""

    def wrong(request: Request) -> Response | None:
        return response if request.path.endswith(ending) else None

    here.buildkite.wrong = wrong


@pytest.mark.exhaustive  # each run has test_a_result_that_is_none_is_not_believed
async def test_one_request_tells_of_a_hundred_jobs(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        jobs = [a_job("accepted") for _ in range(100)]
        handles = await asyncio.gather(*(here.launcher.launch(job) for job in jobs))
        here.buildkite.requests.clear()
        found = await here.launcher.poll(handles)
    assert {outcome.state for outcome in found.values()} == {JobState.WAITING}
    assert len(here.buildkite.requests) == 1


@pytest.mark.parametrize("body", NONSENSE)
async def test_a_list_that_cant_be_read_loses_no_job(tmp_path: Path, body: bytes) -> None:
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        answers(here, "/builds", Response(200, body))
        with pytest.raises(SchedulerError, match="instead of builds"):
            await here.poll(handle)
        here.buildkite.wrong = lambda _: None
        assert await here.poll(handle) == Outcome(JobState.WAITING)


async def test_an_empty_list_loses_no_job(tmp_path: Path) -> None:
    async with place(tmp_path, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        answers(here, "/builds", Response(200, b"[]"))
        assert await here.poll(handle) == Outcome(JobState.WAITING)


@pytest.mark.parametrize("body", [*NONSENSE, b'{"number": "1"}', b'{"number": 0}'])
async def test_a_creation_answered_by_nonsense_is_found_by_its_name(
    tmp_path: Path, body: bytes
) -> None:
    job = a_job("accepted")
    async with place(tmp_path, appear_s=0.1) as here:

        def wrong(request: Request) -> Response | None:
            if request.method != "POST":
                return None
            here.buildkite._create(request)
            return Response(201, body)

        here.buildkite.wrong = wrong
        handle = await here.launcher.launch(job)
    assert [handle] == [f"{build.number}:{job.job_id}" for build in here.builds]


async def test_a_build_of_another_job_is_not_ours(tmp_path: Path) -> None:
    async with place(tmp_path, settle_s=0) as here:
        number = (await here.launcher.launch(a_job("accepted"))).split(":")[0]
        outcome = await here.poll(f"{number}:1.1.ffffffffffff")
    assert (outcome.state, "isn't this job's" in outcome.reason) == (JobState.LOST, True)


async def test_a_result_is_fetched_from_storage_without_the_token(tmp_path: Path) -> None:
    job = a_job("wrong_answer")
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
        here.end("passed", result_file(job))
        here.buildkite.storage.down = True
        meanwhile = await here.poll(handle)
        here.buildkite.storage.down = False
        outcome = await here.poll(handle)
    assert meanwhile == Outcome(JobState.RUNNING)
    assert result_in(outcome, job).job_id == job.job_id


async def test_artifacts_that_our_token_may_not_see_are_not_taken_for_none(tmp_path: Path) -> None:
    job, now = a_job("accepted"), 0.0
    async with place(tmp_path, settle_s=0) as here:
        here.launcher._patience = Patience(lambda: now)
        handle = await here.launcher.launch(job)
        here.end("passed", result_file(job))
        answers(here, "/artifacts", Response(403, b'{"message": "Forbidden"}'))
        found = [await here.poll(handle)]
        now = 1000.0
        found.append(await here.poll(handle))
        here.buildkite.wrong = lambda _: None
        found.append(await here.poll(handle))
    why = "Buildkite answered 403 to reading artifacts: Forbidden"
    assert found[:2] == [Outcome(JobState.RUNNING), Outcome(JobState.LOST, reason=why)]
    assert result_in(found[2], job).job_id == job.job_id


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html>", "can't be read"),
        (b"", "can't be read"),
        (b"\xff", "can't be read"),
        (b"[" * 100_000, "can't be read"),
        (bytes(27 << 20), "more than 26 MiB"),
        (result_file(a_job("accepted"), version=99), "update this side"),
        (result_file(a_job("accepted")), "of another job"),
    ],
    ids=["html", "empty", "bytes", "deep", "huge", "newer", "another"],
)
async def test_a_result_that_is_none_is_not_believed(
    tmp_path: Path, content: bytes, said: str
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with place(tmp_path) as here:
        job = a_job("accepted")
        handle = await here.launcher.launch(job)
        here.end("passed", content)
        outcome = (await here.launcher.poll([handle], {handle: most_bytes(job)}))[handle]
    assert said in why_none(outcome, job)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 200 << 20


@pytest.mark.parametrize("path", ["../result.json", "/result.json", "a/result.json", "result.JSON"])
async def test_an_artifact_of_another_path_is_no_result(tmp_path: Path, path: str) -> None:
    async with place(tmp_path, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.end("passed", b"{}")
        here.builds[0].artifacts[0].path = path
        here.builds[0].judging.exit_status = 0
        outcome = await here.poll(handle)
    assert (outcome.state, "exit code 0 and no result" in outcome.reason) == (JobState.LOST, True)


async def test_an_artifact_with_a_strange_id_leads_nowhere(tmp_path: Path) -> None:
    strange = [{"id": "../../../x", "job_id": "1", "path": "result.json", "state": "finished"}]
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.end("passed", b"{}")
        answers(here, "/artifacts", Response(200, json.dumps(strange).encode()))
        assert await here.poll(handle) == Outcome(JobState.RUNNING)


@pytest.mark.parametrize(
    ("state", "fault", "reason"),
    [
        ("blocked", Fault.PLATFORM, "waits for somebody to unblock it"),
        ("canceled", Fault.SCHEDULER, "somebody cancelled it at Buildkite"),
        ("skipped", Fault.PLATFORM, "Buildkite skipped it"),
        ("not_run", Fault.PLATFORM, "is its pipeline for other branches?"),
        ("failed", Fault.SCHEDULER, "Buildkite ended it before any agent had begun it"),
    ],
)
async def test_an_end_without_a_result_says_whose_failure_it_was(
    tmp_path: Path, state: str, fault: Fault, reason: str
) -> None:
    async with place(tmp_path, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.end(state)
        outcome = await here.poll(handle)
    assert (outcome.state, outcome.fault, reason in outcome.reason) == (JobState.LOST, fault, True)


async def test_an_end_that_nobody_knows_is_one_once_buildkite_says_when_it_was(
    tmp_path: Path,
) -> None:
    async with place(tmp_path, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.builds[0].state = "waiting_failed"
        meanwhile = await here.poll(handle)
        answered = {**here.builds[0].shown(jobs=False), "finished_at": "2026-11-01T10:00:02Z"}
        answers(here, "/builds", Response(200, json.dumps([answered]).encode()))
        outcome = await here.poll(handle)
    assert (meanwhile, outcome.state, outcome.reason) == (
        Outcome(JobState.RUNNING),
        JobState.LOST,
        "Buildkite says that it is waiting_failed",
    )


async def test_a_result_is_found_behind_a_hundred_other_files(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
        here.builds[0].artifacts = [FakeFile(f"profile_data/{n}", b"") for n in range(100)]
        here.end("passed", result_file(job))
        outcome = await here.poll(handle)
    assert outcome.state == JobState.FINISHED


async def test_an_upload_that_fails_is_our_loss_and_named(tmp_path: Path) -> None:
    async with place(tmp_path, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        (build,) = here.builds
        build.state = build.jobs[0].state = "failed"
        build.jobs[0].exit_status = 4
        outcome = await here.poll(handle)
    assert (outcome.fault, "the step that uploads" in outcome.reason) == (Fault.PLATFORM, True)


@pytest.mark.parametrize(
    ("state", "fault", "reason"),
    [
        ("timed_out", Fault.PLATFORM, "judging took longer than the step may"),
        ("expired", Fault.SCHEDULER, "no agent took it for too long"),
        ("canceled", Fault.SCHEDULER, "the step was cancelled at Buildkite"),
        ("broken", Fault.PLATFORM, "Buildkite can't run the step: is it right in its pipeline?"),
        ("skipped", Fault.PLATFORM, "Buildkite skipped the step: its pipeline must not skip any"),
    ],
)
async def test_a_job_that_buildkite_ended_says_why(
    tmp_path: Path, state: str, fault: Fault, reason: str
) -> None:
    async with place(tmp_path, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.end("failed")
        here.builds[0].judging.state = state
        outcome = await here.poll(handle)
    assert (outcome.fault, reason in outcome.reason) == (fault, True)


async def test_a_step_that_is_cancelled_has_lost_no_agent(tmp_path: Path) -> None:
    async with place(tmp_path, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.end("failed")
        job = here.builds[0].judging
        job.state, job.exit_status, job.agent = "canceled", -1, "node0"
        outcome = await here.poll(handle)
    assert (outcome.fault, outcome.reason) == (
        Fault.SCHEDULER,
        "the step was cancelled at Buildkite",
    )


@pytest.mark.exhaustive  # each run has test_a_result_that_is_none_is_not_believed
async def test_an_agent_that_is_lost_is_the_schedulers_loss(tmp_path: Path) -> None:
    async with place(tmp_path, working=True, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("sleep 60 accepted"))
        await until(here.buildkite.agents.judged)
        queue = here.builds[0].env["GPU_QUEUE"]
        here.buildkite.agents.lose(queue)
        outcome = await here.over(handle)
    assert (outcome.fault, outcome.reason) == (
        Fault.SCHEDULER,
        f"Buildkite lost agent 'node-{queue}' in the middle",
    )


async def test_a_step_without_a_result_is_our_loss(tmp_path: Path) -> None:
    async with place(tmp_path, working=True, settle_s=0) as here:
        outcome = await here.over(await here.launcher.launch(a_job("silent")))
    assert (outcome.fault, "exit code 1 and no result" in outcome.reason) == (Fault.PLATFORM, True)


async def test_a_pipeline_that_blocks_judges_nothing(tmp_path: Path) -> None:
    async with place(tmp_path, working=True) as here:
        here.buildkite.agents.blocks = True
        handle = await here.launcher.launch(a_job("accepted"))
        outcome = await here.poll(handle)
    # Nobody is to unblock it later, when its attempt has been given up.
    assert (outcome.state, here.builds[0].state) == (JobState.LOST, "canceled")


@pytest.mark.exhaustive
async def test_the_harness_itself_judges_and_its_author_finds_no_secret(tmp_path: Path) -> None:
    harness = build_harness(tmp_path / "kernelbot-harness.pyz")
    source = searching_submission([str(tmp_path / "agents"), "/tmp", "/dev/shm"], [MARK])
    job = bare_job(source, job_id=f"1.1.{secrets.token_hex(6)}", secret=True)
    with fake_buildkite(tmp_path / "agents", harness) as buildkite:
        async with buildkite_launcher(buildkite_settings(buildkite), None) as launcher:
            here = Place(buildkite, launcher, None)  # type: ignore[arg-type]  # none is needed
            outcome = await here.over(await launcher.launch(job), 100)
    result = result_in(outcome, job)
    assert result.verdict == Verdict.ACCEPTED, result.failure
