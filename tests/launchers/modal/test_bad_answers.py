"""A service and functions that say what they should not."""

from typing import Any

import pytest
from aiohttp import ServerDisconnectedError
from grpclib.exceptions import StreamTerminatedError
from modal import exception

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.patience import Patience
from kernelbot.protocol import Fault
from tests.launchers.modal.conftest import Account
from tests.launchers.stages import a_job
from tests.launchers.test_contract import over, poll
from tests.support.results import why_none


def _in_lists(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("another", "of another job"),
        ("newer", "update this side"),
        ("silent", "no result"),
        ("huge", "more than 128 MiB"),
        ("garbage", "can't be read"),
    ],
)
async def test_a_result_that_isnt_this_jobs_is_none(
    account: Account, text: str, reason: str
) -> None:
    job = a_job(text)
    outcome = await over(account.launcher, await account.launcher.launch(job))
    why = why_none(outcome, job)
    assert reason in why, why


@pytest.mark.parametrize(
    "answer",
    [
        *(None, b"", "<html>", 7, [], {}, {"result": "text"}, {"result": b"<html>"}, {"log": 7}),
        *({"code": 10**5000}, {"log": 10**5000}, {"log": _in_lists(3000)}),
    ],
    ids=range(12),  # some can't be written
)
async def test_an_answer_of_another_shape_is_none(account: Account, answer: Any) -> None:
    job = a_job("accepted")
    account.service.answers[job.job_id] = answer
    outcome = await over(account.launcher, await account.launcher.launch(job))
    assert outcome.fault is not Fault.AUTHOR
    assert why_none(outcome, job).startswith(("its ", "the harness ended"))


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (exception.FunctionTimeoutError("killed"), Fault.PLATFORM),
        (exception.InternalFailure("a machine was lost"), Fault.SCHEDULER),
        (exception.RemoteError("container failed to start"), Fault.SCHEDULER),
        (exception.OutputExpiredError("gone"), Fault.SCHEDULER),
        (exception.DeserializationError("no such class"), Fault.SCHEDULER),
        (ImportError("no module named kernelbot"), Fault.PLATFORM),
        (ValueError("a'; echo x"), Fault.PLATFORM),
    ],
)
async def test_a_call_that_fails_is_lost(
    account: Account, error: BaseException, fault: Fault
) -> None:
    job = a_job("accepted")
    account.service.answers[job.job_id] = error
    outcome = await over(account.launcher, await account.launcher.launch(job))
    assert (outcome.state, outcome.fault) == (JobState.LOST, fault)


@pytest.mark.parametrize(
    "error",
    [
        exception.ResourceExhaustedError("slow down"),
        OSError("reset"),
        StreamTerminatedError("Connection lost"),
        ServerDisconnectedError(),
    ],
)
async def test_what_cant_be_asked_just_now_goes_on(account: Account, error: BaseException) -> None:
    job = a_job("accepted")
    account.service.answers[job.job_id] = error
    handle = await account.launcher.launch(job)
    call = account.service.known[handle.split(":")[0]]
    call.done.wait(60)
    assert not (await poll(account.launcher, handle)).state.is_over


async def test_a_call_that_can_never_be_asked_is_lost_in_the_end(account: Account) -> None:
    now, job, other = 0.0, a_job("accepted"), a_job("sleep 60 accepted")
    account.launcher._patience = Patience(lambda: now)
    account.service.answers[job.job_id] = OSError("reset")
    handles = [await account.launcher.launch(each) for each in (job, other)]
    account.service.known[handles[0].split(":")[0]].done.wait(60)
    found = [await account.launcher.poll(handles)]
    now = 1000.0
    found.append(await account.launcher.poll(handles))
    why = "Modal couldn't say what became of a call: OSError: reset"
    lost = Outcome(JobState.LOST, reason=why, fault=Fault.SCHEDULER)
    assert (False, lost) == (found[0][handles[0]].state.is_over, found[1][handles[0]])
    assert not found[1][handles[1]].state.is_over


async def test_limits_and_single_failures_lose_no_call(account: Account) -> None:
    now, job = 0.0, a_job("accepted")
    account.launcher._patience = Patience(lambda: now)
    handle = await account.launcher.launch(job)
    call = account.service.known[handle.split(":")[0]]
    call.done.wait(60)
    found = []
    limit = exception.ResourceExhaustedError("slow down")
    for call.error in (OSError("reset"), limit, OSError("again")):
        found.append((await poll(account.launcher, handle)).state)
        now += 600
    assert [JobState.RUNNING] * 3 == found


@pytest.mark.parametrize("value", [7, "", "fc-1", "fc-1 a b", "a'; echo x begun", b"fc-1 done"])
async def test_a_dict_that_holds_nonsense_knows_nothing(account: Account, value: Any) -> None:
    job = a_job("accepted")
    account.service.dict.content[job.job_id] = value
    with pytest.raises(SchedulerError, match="instead of a call"):
        await account.launcher.launch(job)
    handle = f"fc-1:{job.job_id}"
    assert (await poll(account.launcher, handle)).state == JobState.LOST


async def test_a_handle_of_another_call_of_the_attempt_is_lost(account: Account) -> None:
    job = a_job("accepted")
    await account.launcher.launch(job)
    assert (await poll(account.launcher, f"fc-2:{job.job_id}")).state == JobState.LOST
