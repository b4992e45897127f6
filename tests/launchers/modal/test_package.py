"""What Modal's package raises, as the launcher has it."""

import pytest
from grpclib.exceptions import StreamTerminatedError
from modal import exception

from kernelbot.domain.errors import RateLimited, SchedulerError
from kernelbot.launchers.base import JobState
from tests.launchers.modal.conftest import Account
from tests.launchers.stages import a_job
from tests.launchers.test_contract import over, poll

HANDLE = "fc-1:1.1.abc"


async def test_an_environment_that_isnt_there_is_told(account: Account) -> None:
    account.service.down = exception.NotFoundError("Environment 'kernelbot' not found")
    for asked in (
        account.launcher.start(),
        account.launcher.launch(a_job("accepted")),
        account.launcher.poll([HANDLE]),
        account.launcher.forget(HANDLE),
    ):
        with pytest.raises(SchedulerError, match="Environment 'kernelbot' not found"):
            await asked


async def test_too_many_requests_are_no_failure(account: Account) -> None:
    """A run is given back and loses no attempt, and jobs in flight aren't given up."""
    account.service.down = exception.ResourceExhaustedError("slow down")
    for asked in (account.launcher.launch(a_job("accepted")), account.launcher.poll([HANDLE])):
        with pytest.raises(RateLimited, match="slow down"):
            await asked


async def test_a_dict_that_was_deleted_is_made_anew(account: Account) -> None:
    account.service.delete_dict()
    with pytest.raises(SchedulerError, match="No Dict with ID"):
        await poll(account.launcher, HANDLE)
    handle = await account.launcher.launch(a_job("accepted"))
    assert JobState.FINISHED == (await over(account.launcher, handle)).state


async def test_what_conflicts_just_now_may_be_asked_again(account: Account) -> None:
    calls = account.service.calls()
    account.service.down = exception.ConflictError("another request changes it")
    for asked in (
        calls.spawn("judge_cpu", ("1.1.abc", "", "", False)),
        calls.outcome("fc-1"),
        calls.cancel("fc-1", with_container=False),
        calls.stats("judge_cpu"),
        calls.entries(),
    ):
        with pytest.raises(SchedulerError, match="another request changes it") as raised:
            await asked
        assert SchedulerError is raised.type


async def test_a_connection_that_breaks_off_is_the_schedulers_failure(account: Account) -> None:
    account.service.down = StreamTerminatedError("Connection lost")
    with pytest.raises(SchedulerError, match="Connection lost"):
        await account.launcher.launch(a_job("accepted"))
