"""Jobs on a real Ray, whose GPUs are so by its own word."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.base import JobState, Launcher, Outcome
from kernelbot.launchers.ray import RayLauncher
from kernelbot.launchers.ray.keeper import keeper_name
from kernelbot.protocol import Fault
from tests.launchers.plans import RayPlan
from tests.launchers.ray.places import settings
from tests.launchers.stages import a_job, started
from tests.launchers.test_contract import over, poll
from tests.support.fake_node import build_fake_node
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.results import result_in

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def launcher(ray: RayCluster, tmp_path: Path) -> AsyncIterator[RayLauncher]:
    async with started(plan(ray, tmp_path).build()) as opened:
        yield opened


@pytest.fixture
def own() -> Iterator[RayCluster]:
    """A cluster that a test may break."""
    with ray_cluster() as cluster:
        cluster.add(num_cpus=2, num_gpus=1, resources={"lab": 1})
        yield cluster


def plan(cluster: RayCluster, folder: Path) -> RayPlan:
    return RayPlan(settings(cluster, namespace="tests"), build_fake_node(folder / "node.pyz"))


async def begun(cluster: RayCluster, job_id: str) -> None:
    async with asyncio.timeout(120):
        while job_id not in cluster.judged():  # noqa: ASYNC110  # another process begins it
            await asyncio.sleep(0.1)


async def ended(launcher: Launcher, handle: str) -> Outcome:
    """Also if the cluster can't be asked for a while."""
    async with asyncio.timeout(240):
        while True:
            try:
                if (outcome := await poll(launcher, handle)).state.is_over:
                    return outcome
            except SchedulerError:
                await asyncio.sleep(1.0)
            await asyncio.sleep(0.1)


async def test_a_job_is_judged(launcher: RayLauncher) -> None:
    job = a_job("accepted")
    outcome = await over(launcher, await launcher.launch(job))
    assert "accepted" == result_in(outcome, job).verdict.value


@pytest.mark.exhaustive
async def test_jobs_at_once_have_different_gpus(launcher: RayLauncher) -> None:
    jobs = [a_job("sleep 3 accepted", "H100") for _ in range(2)]
    begun_at = time.monotonic()
    handles = [await launcher.launch(job) for job in jobs]
    third = await launcher.launch(a_job("accepted", "H100"))
    outcomes = await asyncio.gather(*(over(launcher, handle) for handle in handles))
    results = [result_in(outcome, job) for outcome, job in zip(outcomes, jobs, strict=True)]
    gpus = {result.system.notes[0].partition(";")[0] for result in results}
    assert {"0", "1"} == gpus
    assert time.monotonic() - begun_at < 60
    assert JobState.FINISHED == (await over(launcher, third)).state


@pytest.mark.exhaustive
async def test_what_no_node_has_is_unavailable(launcher: RayLauncher) -> None:
    found = await launcher.availability("B200")
    assert (False, "no node of the Ray cluster has 16 GPU, 1 CPU") == (found.available, found.note)
    assert (await launcher.availability("H100")).available


@pytest.mark.exhaustive
async def test_a_job_that_waits_for_a_gpu_is_cancelled(launcher: RayLauncher) -> None:
    handle = await launcher.launch(a_job("accepted", "B200"))
    before = await poll(launcher, handle)
    await launcher.cancel(handle)
    outcome = await over(launcher, handle)
    assert (JobState.WAITING, JobState.LOST) == (before.state, outcome.state)
    assert (Fault.SCHEDULER, "Ray lost it (TaskCancelledError)") == (outcome.fault, outcome.reason)


@pytest.mark.exhaustive
async def test_a_hundred_jobs_are_judged_once_each(ray: RayCluster, launcher: RayLauncher) -> None:
    before = len(ray.judged())
    jobs = [a_job("accepted") for _ in range(100)]
    handles = [await launcher.launch(job) for job in jobs]
    left = set(handles)
    async with asyncio.timeout(250):
        while left:
            found = await launcher.poll(left)
            assert JobState.LOST not in {outcome.state for outcome in found.values()}
            left -= {handle for handle, outcome in found.items() if outcome.state.is_over}
            await asyncio.sleep(0.2)
    assert sorted(job.job_id for job in jobs) == sorted(ray.judged()[before:])


@pytest.mark.exhaustive
async def test_a_worker_that_is_gone_leaves_its_jobs(ray: RayCluster, tmp_path: Path) -> None:
    job = a_job("sleep 3 accepted")
    async with started(plan(ray, tmp_path).build()) as launcher:
        handle = await launcher.launch(job)
        await begun(ray, job.job_id)
    async with started(plan(ray, tmp_path).build()) as another:
        outcome = await over(another, handle)
    assert (JobState.FINISHED, 1) == (outcome.state, ray.judged().count(job.job_id))


@pytest.mark.exhaustive
async def test_a_node_that_is_killed_loses_its_job_alone(own: RayCluster, tmp_path: Path) -> None:
    async with started(plan(own, tmp_path).build()) as launcher:
        job = a_job("sleep 60 accepted", "H100")
        handle = await launcher.launch(job)
        await begun(own, job.job_id)
        own.add(num_cpus=2, num_gpus=1, resources={"lab": 1})
        own.kill(1)
        lost = await ended(launcher, handle)
        later = await ended(launcher, await launcher.launch(a_job("accepted", "H100")))
    assert (JobState.LOST, Fault.SCHEDULER) == (lost.state, lost.fault)
    assert JobState.FINISHED == later.state, later.reason


@pytest.mark.exhaustive
async def test_a_cluster_that_is_gone_is_told(own: RayCluster, tmp_path: Path) -> None:
    async with started(plan(own, tmp_path).build()) as launcher:
        await launcher.launch(a_job("sleep 60 accepted"))
        own.kill(1)
        own.kill(0)
        with pytest.raises(SchedulerError, match="Ray"):
            await launcher.launch(a_job("accepted"))


@pytest.mark.exhaustive
async def test_a_keeper_that_is_gone_loses_its_jobs_and_another_goes_on(
    ray: RayCluster, tmp_path: Path
) -> None:
    """As after the head's restart: whatever was kept is gone with it."""
    async with started(plan(ray, tmp_path).build()) as launcher:
        job = a_job("sleep 60 accepted")
        handle = await launcher.launch(job)
        await begun(ray, job.job_id)
        await asyncio.to_thread(kill_keeper, ray)
        lost = await ended(launcher, handle)
        later = await ended(launcher, await launcher.launch(a_job("accepted")))
    assert (JobState.LOST, Fault.SCHEDULER) == (lost.state, lost.fault)
    assert JobState.FINISHED == later.state, later.reason


def kill_keeper(cluster: RayCluster) -> None:
    program = (
        f"import ray; ray.init({cluster.address!r}, namespace='tests', log_to_driver=False); "
        f"ray.kill(ray.get_actor({keeper_name()!r}))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
