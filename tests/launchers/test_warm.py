"""Jobs in turn on a node whose host stays: by stand-ins of the schedulers, and the real harness."""

import dataclasses
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from kernelbot.launchers.base import JobState
from kernelbot.protocol import SandboxMode, Verdict
from tests.launchers.test_contract import over
from tests.launchers.warm_stages import (
    ENDLESS,
    WARM_STAGES,
    WarmStage,
    a_job,
    another_release,
)
from tests.support.exhaustive import cases
from tests.support.results import why_none
from tests.support.searching import MARK, searching_submission


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("harness") / "kernelbot-harness.pyz")


@pytest.fixture(params=cases(WARM_STAGES, always=["modal"]))
async def stage(
    request: pytest.FixtureRequest, tmp_path: Path, harness: Path
) -> AsyncIterator[WarmStage]:
    async with WARM_STAGES[request.param](tmp_path, harness, 120.0) as opened:
        yield opened


@pytest.mark.exhaustive  # each run has Slurm's: test_jobs_in_turn_are_one_job_of_slurms
async def test_jobs_in_turn_are_judged_by_one_host(stage: WarmStage) -> None:
    first, hosts = await stage.judged(a_job()), stage.hosts()
    wrong = await stage.judged(a_job("def custom_kernel(data):\n    return 7\n"))
    assert (Verdict.ACCEPTED, Verdict.WRONG_ANSWER) == (first.verdict, wrong.verdict)
    assert 1 == len(hosts)
    assert hosts == stage.hosts()


@pytest.mark.exhaustive
async def test_a_cancelled_job_harms_no_other(stage: WarmStage) -> None:
    handle = await stage.begun(a_job(ENDLESS))
    await stage.launcher.cancel(handle)
    outcome = await over(stage.launcher, handle)
    following = await stage.judged(a_job())
    assert (JobState.LOST, Verdict.ACCEPTED) == (outcome.state, following.verdict)


@pytest.mark.exhaustive
async def test_a_host_that_is_killed_loses_one_attempt(stage: WarmStage) -> None:
    job = a_job(ENDLESS)
    handle = await stage.begun(job)
    (host,) = stage.hosts()
    os.kill(host, signal.SIGKILL)
    why = why_none(await over(stage.launcher, handle), job)
    following = await stage.judged(a_job())
    assert "The warm judge ended in the middle; somebody may have killed it." == why
    assert Verdict.ACCEPTED == following.verdict
    assert [host] != stage.hosts()


@pytest.mark.exhaustive
async def test_another_release_has_another_host(
    stage: WarmStage, harness: Path, tmp_path: Path
) -> None:
    await stage.judged(a_job())
    before = stage.hosts()
    stage.update(another_release(harness, tmp_path))
    assert Verdict.ACCEPTED == (await stage.judged(a_job())).verdict
    assert set(before) < set(stage.hosts())


@pytest.mark.exhaustive
async def test_a_job_without_a_sandbox_has_no_host_that_stays(stage: WarmStage) -> None:
    job = dataclasses.replace(a_job(), sandbox=SandboxMode.NONE)
    result = await stage.judged(job)  # refused, as nobody has allowed it
    assert (Verdict.INTERNAL_ERROR, []) == (result.verdict, stage.hosts())


@pytest.mark.exhaustive
async def test_an_author_finds_nothing_of_the_job_before(stage: WarmStage, tmp_path: Path) -> None:
    before = a_job(secret=True)
    await stage.judged(before)
    source = searching_submission([str(tmp_path), "/tmp", "/dev/shm"], [MARK, before.job_id])
    result = await stage.judged(a_job(source, secret=True))
    assert Verdict.ACCEPTED == result.verdict, result.failure
