"""One call judges an attempt, whatever is repeated, and whoever dies in between."""

import asyncio

import pytest

from kernelbot.domain.errors import DeviceRefused, JobRefused, SchedulerError
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.modal import ModalDevice, ModalLauncher, ModalSettings
from kernelbot.protocol import JobSpec, encode_payload
from tests.fakes.modal.service import FakeCall
from tests.launchers.modal.conftest import Account
from tests.launchers.plans import DEVICE
from tests.launchers.stages import a_job, modal_launcher
from tests.launchers.test_contract import over, poll
from tests.support.results import result_in
from tests.support.waiting import until


def judged(account: Account) -> list[str]:
    log = account.service.folder / "judged.log"
    return log.read_text().split() if log.exists() else []


def spawned(account: Account, job: JobSpec) -> FakeCall:
    """A call of a worker that died before it wrote anything down."""
    return account.service.start("judge_cpu", (job.job_id, encode_payload(job), "", False))


async def test_a_call_that_nobody_wrote_down_judges_nothing(account: Account) -> None:
    job = a_job("accepted")
    account.service.held = True
    first = spawned(account, job)
    handle = await account.launcher.launch(job)
    account.service.begin_all()
    outcome = await over(account.launcher, handle)
    await asyncio.to_thread(first.done.wait, 60)
    assert (outcome.state, judged(account)) == (JobState.FINISHED, [job.job_id])
    assert first.answer == {"doubled": True}


async def test_a_call_that_wrote_itself_down_is_found(account: Account) -> None:
    job = a_job("accepted")
    first = spawned(account, job)
    await asyncio.to_thread(first.done.wait, 60)
    handle = await account.launcher.launch(job)
    assert handle == f"{first.id}:{job.job_id}"
    assert (await over(account.launcher, handle)).state == JobState.FINISHED
    assert (judged(account), len(account.service.known)) == ([job.job_id], 1)


async def test_two_workers_at_once_launch_one(account: Account) -> None:
    job = a_job("accepted")
    async with modal_launcher(account.service) as another:
        handles = await asyncio.gather(
            *(each.launch(job) for each in (account.launcher, another) for _ in range(3))
        )
    outcome = await over(account.launcher, handles[0])
    assert (len(set(handles)), outcome.state) == (1, JobState.FINISHED)
    assert judged(account) == [job.job_id]


async def test_a_call_that_modal_starts_again_is_judged(account: Account) -> None:
    job = a_job("accepted")
    account.service.held = True
    handle = await account.launcher.launch(job)
    call_id = handle.split(":")[0]
    account.service.dict.content[job.job_id] = f"{call_id} begun"  # by a machine that was lost
    account.service.begin_all()
    assert (await over(account.launcher, handle)).state == JobState.FINISHED


async def test_a_call_that_was_forgotten_comes_back_as_nothing(account: Account) -> None:
    job = a_job("sleep 0.3 accepted")
    handle = await account.launcher.launch(job)
    async with asyncio.timeout(60):
        while not judged(account):  # noqa: ASYNC110  # another process begins it
            await asyncio.sleep(0.01)
    await account.launcher.forget(handle)
    await asyncio.to_thread(account.service.known[handle.split(":")[0]].done.wait, 60)
    assert account.service.dict.content == {}


@pytest.mark.parametrize("held", [True, False])
async def test_a_call_whose_entry_is_gone_is_asked_itself(account: Account, held: bool) -> None:
    job = a_job("accepted")
    account.service.held = held
    handle = await account.launcher.launch(job)
    call = account.service.known[handle.split(":")[0]]
    if not held:
        await asyncio.to_thread(call.done.wait, 60)
    account.service.dict.content.clear()
    before = (await poll(account.launcher, handle)).state
    account.service.begin_all()
    assert (await over(account.launcher, handle)).state == JobState.FINISHED
    assert (before, judged(account)) == (
        JobState.WAITING if held else JobState.FINISHED,
        [job.job_id],
    )


@pytest.mark.exhaustive  # each run has test_a_call_that_was_forgotten_comes_back_as_nothing
async def test_a_dict_that_is_deleted_while_a_call_judges_loses_no_result(
    account: Account,
) -> None:
    handle = await account.launcher.launch(a_job("sleep 1 accepted"))
    await until(lambda: judged(account))
    account.service.delete_dict()
    with pytest.raises(SchedulerError, match="No Dict with ID"):
        await poll(account.launcher, handle)
    assert (await over(account.launcher, handle)).state == JobState.FINISHED


async def test_what_waits_and_what_runs_is_told_apart(account: Account) -> None:
    account.service.held = True
    handle = await account.launcher.launch(a_job("sleep 60 accepted"))
    waiting = (await poll(account.launcher, handle)).state
    account.service.begin_all()
    async with asyncio.timeout(60):
        while (await poll(account.launcher, handle)).state == JobState.WAITING:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    running = (await poll(account.launcher, handle)).state
    assert (waiting, running) == (JobState.WAITING, JobState.RUNNING)


@pytest.mark.exhaustive  # each run has test_a_call_that_was_forgotten_comes_back_as_nothing
async def test_a_thousand_in_flight_are_few_requests(account: Account) -> None:
    account.service.held = True
    handles = [await account.launcher.launch(a_job("accepted")) for _ in range(1000)]
    asked: set[str] = set()
    account.service.requests.clear()
    found = await account.launcher.poll(handles)
    assert {outcome.state for outcome in found.values()} == {JobState.WAITING}
    assert account.service.requests == ["items", *["get"] * 8]
    for _ in range(3):
        await account.launcher.poll(handles)
    asked = set(account.launcher._turns)
    assert len(asked) == 32


@pytest.mark.exhaustive
async def test_many_at_once_are_judged_once_each(account: Account) -> None:
    jobs = [a_job("accepted") for _ in range(20)]
    handles = await asyncio.gather(*(account.launcher.launch(job) for job in jobs))
    outcomes: dict[str, Outcome] = {}
    async with asyncio.timeout(100):
        while len(outcomes) < len(jobs):
            left = [handle for handle in handles if handle not in outcomes]
            found = await account.launcher.poll(left)
            outcomes |= {h: outcome for h, outcome in found.items() if outcome.state.is_over}
            await asyncio.sleep(0.05)
    results = [result_in(outcomes[h], job) for h, job in zip(handles, jobs, strict=True)]
    assert [result.job_id for result in results] == [job.job_id for job in jobs]
    assert sorted(judged(account)) == sorted(job.job_id for job in jobs)


async def test_a_function_that_isnt_deployed_is_told(account: Account) -> None:
    settings = ModalSettings({DEVICE: ModalDevice("judge_mi300")})
    launcher = ModalLauncher(settings, account.service.calls())
    with pytest.raises(DeviceRefused, match="is it deployed"):
        await launcher.launch(a_job("accepted"))
    found = await launcher.availability(DEVICE)
    assert (found.available, "is it deployed" in found.note) == (False, True)


async def test_what_takes_longer_than_the_function_is_refused(account: Account) -> None:
    settings = ModalSettings({DEVICE: ModalDevice("judge_cpu")}, function_timeout_s=400)
    launcher = ModalLauncher(settings, account.service.calls())
    with pytest.raises(JobRefused, match="ends after 400 s"):
        await launcher.launch(a_job("accepted"))


async def test_an_account_that_is_down_is_told(account: Account) -> None:
    from modal import exception

    account.service.down = exception.AuthError("token revoked")
    for asked in (
        account.launcher.start(),
        account.launcher.launch(a_job("accepted")),
        account.launcher.poll(["fc-1:1.1.abc"]),
        account.launcher.availability(DEVICE),
        account.launcher.cancel("fc-1:1.1.abc"),
    ):
        with pytest.raises(SchedulerError, match="token revoked"):
            await asked


async def test_a_service_that_hangs_is_given_up(account: Account) -> None:
    job = a_job("accepted")
    handle = await account.launcher.launch(job)
    settings = ModalSettings({DEVICE: ModalDevice("judge_cpu")})
    launcher = ModalLauncher(settings, account.service.calls(timeout_s=0.05))
    account.service.hangs = True
    for asked in (
        launcher.launch(a_job("accepted")),
        launcher.poll([handle]),
        launcher.availability(DEVICE),
        launcher.cancel(handle),
        launcher.forget(handle),
    ):
        with pytest.raises(SchedulerError, match=r"within 0\.05 s"):
            await asked
