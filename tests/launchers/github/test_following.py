"""What becomes of runs, and of the requests that it takes to know."""

import asyncio
import math
from pathlib import Path

import pytest

from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.base import Availability, JobState, Outcome
from kernelbot.launchers.patience import Patience
from kernelbot.protocol import Fault
from tests.fakes.github import TOKEN
from tests.fakes.github.server import Account
from tests.fakes.serving import Response
from tests.launchers.github.places import Place, place, result_zip
from tests.launchers.plans import DEVICE
from tests.launchers.stages import a_job
from tests.support.results import result_in, why_none
from tests.support.waiting import until
from tests.support.zips import zipped


async def test_one_request_tells_of_a_hundred_jobs(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        jobs = [a_job("accepted") for _ in range(100)]
        handles = await asyncio.gather(*(here.launcher.launch(job) for job in jobs))
        here.github.requests.clear()
        first = await here.launcher.poll(handles)
        here.github.unchanged = 0
        again = await here.launcher.poll(handles)
    assert {outcome.state for outcome in (*first.values(), *again.values())} == {JobState.WAITING}
    assert (len(here.github.requests), here.github.unchanged) == (2, 1)


async def test_a_run_without_a_status_spoils_no_list(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        handles = [await here.launcher.launch(a_job("accepted")) for _ in range(2)]
        here.runs[0].status = ""  # the schema has it null
        found = await here.launcher.poll(handles)
    assert [outcome.state for outcome in found.values()] == [JobState.WAITING] * 2


async def test_a_run_that_is_named_late_is_ours(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path, settle_s=3600) as here:
        here.github.actions.named_late_s = math.inf
        handle = await here.launcher.launch(job)
        found = [await here.poll(handle)]
        here.github.actions.end(here.runs[0], "success", result_zip(job))
        found.append(await here.poll(handle))
        here.runs[0].named_at = 0.0
        found.append(await here.poll(handle))
    states = [JobState.WAITING, JobState.RUNNING, JobState.FINISHED]
    assert states == [outcome.state for outcome in found]


async def test_a_run_that_the_list_doesnt_show_is_asked_for_by_itself(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        listed = here.github.actions.runs
        run = here.runs[0]
        here.github._is_shown = lambda run: False  # type: ignore[method-assign]
        here.github._find = lambda number: listed.get(int(number))  # type: ignore[method-assign]
        run.status = "in_progress"
        assert await here.poll(handle) == Outcome(JobState.RUNNING)
    assert here.github.asked("GET", f"/runs/{run.number}") == 1


async def test_requests_become_rarer_when_they_run_short(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.github.accounts[TOKEN] = Account(left=1000)
        handle = await here.launcher.launch(a_job("accepted"))
        await here.poll(handle)
        here.github.requests.clear()
        outcomes = [await here.poll(handle) for _ in range(5)]
    assert ([o.state for o in outcomes], here.github.requests) == ([JobState.WAITING] * 5, [])


async def test_the_backup_pays_before_the_first_token_runs_dry(tmp_path: Path) -> None:
    async with place(tmp_path, tokens=(TOKEN, "ghp_backup")) as here:
        here.github.accounts = {TOKEN: Account(left=101), "ghp_backup": Account()}
        await asyncio.gather(*(here.launcher.launch(a_job("accepted")) for _ in range(20)))
    assert here.github.accounts[TOKEN].left > 50
    assert here.github.accounts["ghp_backup"].left < 5000


@pytest.mark.parametrize("what", ["revoked", "retry_after_s", "left"])
async def test_a_token_that_fails_in_the_middle_is_replaced_by_the_backup(
    tmp_path: Path, what: str
) -> None:
    async with place(tmp_path, tokens=(TOKEN, "ghp_backup")) as here:
        here.github.accounts["ghp_backup"] = Account()
        handle = await here.launcher.launch(a_job("accepted"))
        setattr(here.github.accounts[TOKEN], what, 0 if what == "left" else 30)
        again = await here.launcher.launch(a_job("accepted"))
        assert (await here.poll(handle)).state == JobState.WAITING
    assert (handle != again, len(here.runs)) == (True, 2)


async def test_a_token_revoked_in_the_middle_is_our_failure_and_loses_no_job(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.github.accounts[TOKEN].revoked = True
        for call in (here.poll(handle), here.launcher.availability(DEVICE)):
            with pytest.raises(PlatformError, match="set a valid GITHUB_TOKEN"):
                await call


async def test_a_result_is_fetched_from_storage_without_the_token(tmp_path: Path) -> None:
    job = a_job("wrong_answer")
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
        here.github.actions.end(here.runs[0], "failure", result_zip(job))
        outcome = await here.poll(handle)
    assert (result_in(outcome, job).job_id, here.github.storage.leaked) == (job.job_id, [])


async def test_storage_that_is_down_is_asked_again(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
        here.github.actions.end(here.runs[0], "success", result_zip(job))
        here.github.storage.down = True
        meanwhile = await here.poll(handle)
        here.github.storage.down = False
        assert (meanwhile, (await here.poll(handle)).state) == (
            Outcome(JobState.RUNNING),
            JobState.FINISHED,
        )


async def test_storage_that_stays_down_loses_the_job_in_the_end(tmp_path: Path) -> None:
    job, now = a_job("accepted"), 0.0
    async with place(tmp_path) as here:
        here.launcher._patience = Patience(lambda: now)
        handle = await here.launcher.launch(job)
        here.github.actions.end(here.runs[0], "success", result_zip(job))
        here.github.storage.down = True
        await here.poll(handle)
        now = 1000.0
        outcome = await here.poll(handle)
    assert (outcome.state, outcome.fault) == (JobState.LOST, Fault.SCHEDULER)


@pytest.mark.parametrize("answer", [Response(503), Response(200, b'{"artifacts": []}')])
async def test_a_run_that_showed_late_loses_no_time_for_its_result(
    tmp_path: Path, answer: Response
) -> None:
    job, now = a_job("accepted"), 0.0
    async with place(tmp_path) as here:
        here.launcher._patience = Patience(lambda: now)
        handle = await here.launcher.launch(job)
        run = here.runs[0]
        run.shown_at = math.inf
        found = [await here.poll(handle)]
        run.shown_at = 0.0
        found.append(await here.poll(handle))
        now = 1000.0
        here.github.actions.end(run, "success", result_zip(job))
        here.github.wrong = lambda r: answer if r.path.endswith("/artifacts") else None
        found.append(await here.poll(handle))
        here.github.wrong = lambda _: None
        found.append(await here.over(handle))
    states = ["waiting", "waiting", "running", "finished"]
    assert [outcome.state for outcome in found] == states


async def looked(here: Place, handle: str) -> Outcome:
    """The outcome once its result was looked for."""
    before = here.github.asked("GET", "/artifacts")
    async with asyncio.timeout(60):
        while True:
            outcome = await here.poll(handle)
            if here.github.asked("GET", "/artifacts") > before:
                return outcome
            await asyncio.sleep(0.02)


async def test_a_run_that_is_begun_again_loses_no_time_for_its_result(tmp_path: Path) -> None:
    now = 0.0
    async with place(tmp_path) as here:
        here.launcher._patience = Patience(lambda: now)
        handle = await here.launcher.launch(a_job("accepted"))
        run = here.runs[0]
        here.github.actions.end(run, "failure")
        found = [await here.poll(handle)]
        run.status, run.conclusion = "in_progress", None
        found.append(await here.poll(handle))
        now = 1000.0
        here.github.actions.end(run, "success")
        found.append(await looked(here, handle))
    assert found == [Outcome(JobState.RUNNING)] * 3


async def test_results_that_fail_now_and_then_are_asked_for_again(tmp_path: Path) -> None:
    now = 0.0
    async with place(tmp_path, settle_s=10_000) as here:
        here.launcher._patience = Patience(lambda: now)
        handle = await here.launcher.launch(a_job("accepted"))
        here.github.actions.end(here.runs[0], "success")
        found, answers = [], iter([Response(503), None, Response(503)])
        here.github.wrong = lambda r: next(answers) if r.path.endswith("/artifacts") else None
        for _ in range(3):
            found.append(await looked(here, handle))
            now += 50
    assert found == [Outcome(JobState.RUNNING)] * 3


async def test_an_artifact_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path, settle_s=30) as here:
        handle = await here.launcher.launch(job)
        here.github.actions.end(here.runs[0], "success")
        meanwhile = await here.poll(handle)
        here.github.actions.end(here.runs[0], "success", result_zip(job))
        assert (meanwhile, (await here.over(handle)).state) == (
            Outcome(JobState.RUNNING),
            JobState.FINISHED,
        )


@pytest.mark.parametrize(
    ("conclusion", "fault", "reason"),
    [
        ("cancelled", Fault.SCHEDULER, "GitHub cancelled it: somebody asked, or"),
        ("timed_out", Fault.PLATFORM, "judging took longer than all limits together"),
        ("startup_failure", Fault.PLATFORM, "is its workflow file valid?"),
        ("stale", Fault.SCHEDULER, "GitHub says that it is stale"),
        ("failure", Fault.SCHEDULER, "GitHub ended it before any runner had begun it"),
    ],
)
async def test_an_end_without_a_result_says_whose_failure_it_was(
    tmp_path: Path, conclusion: str, fault: Fault, reason: str
) -> None:
    async with place(tmp_path, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.github.actions.end(here.runs[0], conclusion)
        outcome = await here.over(handle)
    assert (outcome.state, outcome.fault) == (JobState.LOST, fault)
    assert reason in outcome.reason


async def test_an_artifact_that_has_expired_is_the_schedulers_loss(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
        here.github.actions.end(here.runs[0], "success", result_zip(job))
        here.runs[0].artifacts[0].expired = True
        outcome = await here.poll(handle)
    assert (outcome.fault, outcome.reason) == (
        Fault.SCHEDULER,
        "its result has expired at GitHub",
    )


async def running(here: Place, text: str) -> str:
    """The handle of a job that a runner has begun."""
    handle = await here.launcher.launch(a_job(text))
    await until(here.github.actions.judged)
    return handle


@pytest.mark.exhaustive  # each run has test_a_judge_without_a_result_is_our_loss
async def test_a_runner_that_is_lost_is_the_schedulers_loss(tmp_path: Path) -> None:
    async with place(tmp_path, runners=1, settle_s=0) as here:
        handle = await running(here, "sleep 60 accepted")
        here.github.actions.lose(here.runs[0])
        outcome = await here.over(handle)
    assert (outcome.fault, outcome.reason) == (
        Fault.SCHEDULER,
        "GitHub lost runner 'node0-gpu0' in the middle",
    )


async def test_a_judge_without_a_result_is_our_loss(tmp_path: Path) -> None:
    async with place(tmp_path, runners=1, settle_s=0) as here:
        outcome = await here.over(await here.launcher.launch(a_job("silent")))
    assert (outcome.fault, "'node0-gpu0'" in outcome.reason) == (Fault.PLATFORM, True)


@pytest.mark.exhaustive  # each run has test_a_judge_without_a_result_is_our_loss
async def test_a_result_that_github_didnt_take_is_its_loss(tmp_path: Path) -> None:
    async with place(tmp_path, runners=1, settle_s=0) as here:
        here.github.actions.storage_full = True
        outcome = await here.over(await here.launcher.launch(a_job("accepted")))
    where = "GitHub didn't take the result of runner 'node0-gpu0'"
    why = f"{where}: is the account's storage for artifacts full?"
    assert (outcome.fault, outcome.reason) == (Fault.SCHEDULER, why)


@pytest.mark.exhaustive  # each run has test_a_judge_without_a_result_is_our_loss
async def test_a_run_that_takes_too_long_is_ended_by_github(tmp_path: Path) -> None:
    async with place(tmp_path, runners=1, settle_s=0) as here:
        here.github.actions.minute_s = 0.05
        outcome = await here.over(await here.launcher.launch(a_job("sleep 60 accepted")))
    assert (outcome.fault, "longer than all limits" in outcome.reason) == (Fault.SCHEDULER, True)


@pytest.mark.exhaustive  # each run has test_a_judge_without_a_result_is_our_loss
async def test_a_run_forgotten_before_its_end_is_deleted_after_it(tmp_path: Path) -> None:
    async with place(tmp_path, runners=1) as here:
        handle = await running(here, "sleep 60 accepted")
        here.launcher._left_over._first_pause_s = 0.05
        await here.launcher.cancel(handle)
        await here.launcher.forget(handle)
        await until(lambda: not here.runs)
    assert here.runs == []


async def test_runs_left_over_take_no_time_of_a_check(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        for _ in range(2):
            await here.launcher.forget(await here.launcher.launch(a_job("accepted")))
        for run in here.runs:
            here.github.actions.end(run, "cancelled")
        before = here.github.asked("DELETE", "")
        found = await here.launcher.availability(DEVICE)
        asked = here.github.asked("DELETE", "") - before
    assert (found, asked) == (Availability(True), 0)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, Availability(True)),
        ({"disabled": True}, Availability(False, "GitHub says that kernelbot-nvidia.yml is "
                                                 "disabled_manually")),
        ({"offline": True}, Availability(False, "all runners with the label cpu-runner are "
                                                "offline: node0-gpu0")),
    ],
)  # fmt: skip
async def test_a_device_is_available_if_its_workflow_and_a_runner_are(
    tmp_path: Path, change: dict[str, bool], found: Availability
) -> None:
    async with place(tmp_path) as here:
        here.github.accounts[TOKEN].admin = True
        for name, value in change.items():
            setattr(here.github, name, value)
        assert await here.launcher.availability(DEVICE) == found


async def test_runners_are_looked_at_once_for_all_devices(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.github.accounts[TOKEN].admin = True
        await asyncio.gather(*(here.launcher.availability(DEVICE) for _ in range(8)))
    assert here.github.asked("GET", "/runners") == 1


@pytest.mark.parametrize("offline", [False, True])
async def test_a_runner_is_seen_behind_hundreds_that_are_gone(
    tmp_path: Path, offline: bool
) -> None:
    async with place(tmp_path) as here:
        here.github.accounts[TOKEN].admin = True
        here.github.runners_gone, here.github.offline = 250, offline
        found = [await here.launcher.availability(DEVICE) for _ in range(2)]
        asked = here.github.asked("GET", "/runners")
    why = "all runners with the label cpu-runner are offline: gone0, gone1, gone2, gone3, gone4"
    expected = Availability(False, why) if offline else Availability(True)
    assert (found, asked) == ([expected] * 2, 3)


async def test_of_more_runners_than_are_looked_at_one_may_be_online(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.github.accounts[TOKEN].admin = True
        here.github.runners_gone = 3000
        found = await here.launcher.availability(DEVICE)
    assert (found, here.github.asked("GET", "/runners")) == (Availability(True), 5)


async def test_runners_that_we_may_not_see_are_believed_in(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.github.offline = True
        assert (await here.launcher.availability(DEVICE)).available


async def test_a_repository_without_the_workflow_is_told(tmp_path: Path) -> None:
    async with place(tmp_path, repo="lab/other") as here:
        found = await here.launcher.availability(DEVICE)
    assert found == Availability(
        False, "lab/other has no workflow kernelbot-nvidia.yml that GitHub shows our token"
    )


async def test_a_long_queue_makes_the_device_unavailable(tmp_path: Path) -> None:
    async with place(tmp_path, queue_limit=2) as here:
        before = await here.launcher.availability(DEVICE)
        for _ in range(2):
            await here.launcher.launch(a_job("accepted"))
        after = await here.launcher.availability(DEVICE)
    assert (before, after) == (
        Availability(True),
        Availability(False, "2 runs wait at GitHub already"),
    )


async def test_files_beside_the_result_are_left_alone(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
        archive = zipped(("../result.json", b"{}"), ("/etc/passwd", b""))
        here.github.actions.end(here.runs[0], "success", archive)
        outcome = await here.poll(handle)
    assert why_none(outcome, job) == "its artifact has no result.json"
