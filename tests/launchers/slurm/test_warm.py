"""Nodes that judge jobs in turn, on a real cluster: what is one job of Slurm's, who loses what."""

import contextlib
import os
import signal
from pathlib import Path

import pytest
from scripts.slurm_cluster import SlurmCluster

from kernelbot.domain.errors import DeviceRefused, JobRefused, SchedulerError
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.slurm import SlurmLauncher
from kernelbot.protocol import Fault
from tests.launchers.slurm.test_bad_answers import broken
from tests.launchers.slurm.test_cluster import judged, launching, over, poll
from tests.launchers.stages import a_job
from tests.support.waiting import until

IDLE_S = 600.0


def nodes(slurm: SlurmCluster, state: str = "RUNNING,PENDING,COMPLETING") -> list[str]:
    """Slurm's numbers."""
    ended = slurm.run("squeue", "--noheader", f"--states={state}", "--format=%i")
    return ended.stdout.split()


async def free(folder: Path) -> None:
    """Return once all that was begun has ended."""
    await until(
        lambda: len(judged(folder)) == sum(1 for _ in (folder / "work" / "done").glob("[0-9]*"))
    )


async def one(launcher: SlurmLauncher, words: str = "accepted", device: str = "CPU") -> Outcome:
    return await over(launcher, await launcher.launch(a_job(words, device)))


@pytest.mark.exhaustive  # each run has test_a_nodes_time_is_the_jobs_own_only_if_that_is_longer
async def test_jobs_in_turn_are_one_job_of_slurms(tmp_path: Path, slurm: SlurmCluster) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        states = [(await one(launcher)).state for _ in range(3)]
        found = nodes(slurm, "all")
        mine = [number for number in found if number in nodes(slurm)]
    assert (states, len(judged(tmp_path)), len(mine)) == ([JobState.FINISHED] * 3, 3, 1)


@pytest.mark.exhaustive
async def test_a_job_that_comes_while_another_is_judged_has_a_node_of_its_own(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        long = await launcher.launch(a_job("sleep 600 accepted"))
        await until(lambda: judged(tmp_path))
        outcome = await one(launcher)
        still = await poll(launcher, long)
    assert (outcome.state, still.state) == (JobState.FINISHED, JobState.RUNNING)


@pytest.mark.exhaustive
async def test_a_node_that_gets_no_job_ends(tmp_path: Path, slurm: SlurmCluster) -> None:
    async with launching(tmp_path, warm_idle_s=0.5) as launcher:
        outcome = await one(launcher)
        await until(lambda: not nodes(slurm))
    left = list((tmp_path / "work" / "nodes").iterdir())
    assert (outcome.state, left) == (JobState.FINISHED, [])


@pytest.mark.exhaustive
async def test_devices_have_nodes_of_their_own(tmp_path: Path, slurm: SlurmCluster) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        outcomes = [await one(launcher, device=device) for device in ("CPU", "H100", "CPU")]
        count = len(nodes(slurm))
    assert [outcome.state for outcome in outcomes] == [JobState.FINISHED] * 3
    assert count == 2


@pytest.mark.exhaustive
async def test_free_nodes_take_what_waits_for_slurm(tmp_path: Path, slurm: SlurmCluster) -> None:
    """Nodes that were started for a job and came too late hold nothing."""
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        handles = [await launcher.launch(a_job("sleep 0.3 accepted", "H100")) for _ in range(8)]
        outcomes = [await over(launcher, handle) for handle in handles]
        await launcher.poll(handles)
        await until(lambda: not nodes(slurm, "PENDING,COMPLETING"))
        running = nodes(slurm, "RUNNING")
    assert [outcome.state for outcome in outcomes] == [JobState.FINISHED] * 8
    assert (len(judged(tmp_path)), len(running) <= 2) == (8, True)


@pytest.mark.exhaustive
async def test_a_node_that_is_cancelled_loses_the_job_that_it_has(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        await one(launcher)
        handle = await launcher.launch(a_job("sleep 60 accepted"))
        await until(lambda: len(judged(tmp_path)) == 2)
        slurm.run("scancel", *nodes(slurm))
        lost = await over(launcher, handle)
        again = await one(launcher)
    assert lost == Outcome(
        JobState.LOST, reason="somebody cancelled it in Slurm", fault=Fault.SCHEDULER
    )
    assert (again.state, len(judged(tmp_path))) == (JobState.FINISHED, 3)


@pytest.mark.exhaustive
async def test_a_free_node_that_is_cancelled_loses_nothing(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        await one(launcher)
        await free(tmp_path)
        slurm.run("scancel", *nodes(slurm))
        outcome = await one(launcher)
    assert (outcome.state, len(judged(tmp_path))) == (JobState.FINISHED, 2)


@pytest.mark.exhaustive
async def test_a_node_whose_harness_dies_loses_one_job(tmp_path: Path) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        states = [(await one(launcher, words)).state for words in ("accepted", "die", "accepted")]
    assert states == [JobState.FINISHED, JobState.LOST, JobState.FINISHED]


def kill_script(slurm: SlurmCluster, number: str) -> None:
    """What Slurm runs of a job, and nothing that it has started."""
    name = f"{slurm.work}/d/job{int(number):05}/slurm_script"
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if name in (process / "cmdline").read_text():
                os.kill(int(process.name), signal.SIGKILL)


@pytest.mark.exhaustive
async def test_what_is_left_of_a_node_that_slurm_has_ended_takes_nothing(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        await one(launcher)
        await free(tmp_path)
        (first,) = nodes(slurm)
        kill_script(slurm, first)
        await until(lambda: not nodes(slurm))
        outcome = await one(launcher)
    assert (outcome.state, len(judged(tmp_path))) == (JobState.FINISHED, 2)


@pytest.mark.exhaustive
async def test_a_node_that_is_to_be_drained_takes_nothing_more(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    drain = (f"NodeName={slurm.node}", "State=DRAIN", "Reason=new fans")
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        await one(launcher)
        await free(tmp_path)
        (first,) = nodes(slurm)
        slurm.run("scontrol", "update", *drain)
        try:
            handle = await launcher.launch(a_job("accepted"))
            await until(lambda: first not in nodes(slurm))
            waiting = await poll(launcher, handle)
            begun = len(judged(tmp_path))
        finally:
            slurm.run("scontrol", "update", drain[0], "State=RESUME")
        outcome = await over(launcher, handle)
    assert (waiting.state, begun, outcome.state) == (JobState.WAITING, 1, JobState.FINISHED)


@pytest.mark.exhaustive
async def test_no_job_is_begun_that_may_last_longer_than_its_node(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        await one(launcher)
        await free(tmp_path)
        (first,) = nodes(slurm)
        slurm.run("scontrol", "update", f"JobId={first}", "TimeLimit=5")
        outcome = await one(launcher)
        await until(lambda: first not in nodes(slurm))
    assert (outcome.state, len(judged(tmp_path))) == (JobState.FINISHED, 2)


@pytest.mark.exhaustive
async def test_a_nodes_time_limit_is_longer_than_its_first_jobs(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S, warm_limit_s=60.0) as launcher:
        outcome = await one(launcher)
        ended = slurm.run("squeue", "--noheader", "--states=RUNNING", "--format=%l")
    # The job's 8 minutes and slack, and as much again to get ready.
    assert (outcome.state, ended.stdout.strip()) == (JobState.FINISHED, "18:00")


@pytest.mark.exhaustive
async def test_a_job_that_waits_is_cancelled_at_once(tmp_path: Path, slurm: SlurmCluster) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        long = [await launcher.launch(a_job("sleep 60 accepted", "H100")) for _ in range(2)]
        await until(lambda: len(judged(tmp_path)) == 2)
        handle = await launcher.launch(a_job("accepted", "H100"))
        await launcher.cancel(handle)
        outcome = await poll(launcher, handle)
        left = list((tmp_path / "work" / "jobs").glob("*/jobspec.json"))
        for each in long:
            await launcher.cancel(each)
            await over(launcher, each)
        running = nodes(slurm, "RUNNING")
    assert (outcome.state, outcome.reason) == (JobState.LOST, "it was cancelled")
    assert (len(judged(tmp_path)), len(left), len(running)) == (2, 2, 2)


@pytest.mark.exhaustive
async def test_a_job_that_is_cancelled_and_forgotten_leaves_its_node(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    """As a worker does it: both at once."""
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        handle = await launcher.launch(a_job("sleep 60 accepted"))
        await until(lambda: judged(tmp_path))
        first = nodes(slurm)
        await launcher.cancel(handle)
        await launcher.forget(handle)
        outcome = await one(launcher)
        same = nodes(slurm) == first
    left = sorted(path.name for path in (tmp_path / "work" / "cancels").iterdir())
    assert (outcome.state, same, left) == (JobState.FINISHED, True, [])


@pytest.mark.exhaustive
async def test_what_slurm_refuses_is_not_offered(tmp_path: Path) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        with pytest.raises(SchedulerError, match="Requested node configuration is not available"):
            await launcher.launch(a_job("accepted", "B200"))
    left = [path.name for path in (tmp_path / "work").glob("*/*.1.*")]
    assert left == []


@pytest.mark.parametrize(("warm_limit_s", "kind"), [(3600.0, DeviceRefused), (60.0, JobRefused)])
async def test_a_nodes_time_is_the_jobs_own_only_if_that_is_longer(
    tmp_path: Path, warm_limit_s: float, kind: type[SchedulerError]
) -> None:
    failed = "sbatch: error: Batch job submission failed: "
    lines = f"echo '{failed}Requested time limit is invalid' >&2; exit 1"
    async with launching(tmp_path, warm_idle_s=IDLE_S, warm_limit_s=warm_limit_s) as launcher:
        await broken(launcher, tmp_path, "sbatch", lines)
        with pytest.raises(SchedulerError, match="time limit is invalid") as refused:
            await launcher.launch(a_job("accepted"))
    assert kind is refused.type


@pytest.mark.exhaustive
async def test_nothing_is_offered_while_the_controller_is_away(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        await one(launcher)
        slurm.stop_controller()
        try:
            with pytest.raises(SchedulerError, match="Unable to contact"):
                await launcher.launch(a_job("sleep 60 accepted"))
        finally:
            slurm.start_controller()
        waiting = list((tmp_path / "work" / "waiting").glob("[0-9a-f]*"))
        outcome = await one(launcher)
    assert (waiting, outcome.state) == ([], JobState.FINISHED)


@pytest.mark.exhaustive
async def test_a_launch_that_is_repeated_while_the_controller_is_away_takes_nothing_away(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    job = a_job("accepted")
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        handle = await launcher.launch(job)
        await over(launcher, handle)
        slurm.stop_controller()
        try:
            again = await launcher.launch(job)
        finally:
            slurm.start_controller()
        outcome = await poll(launcher, handle)
    assert (again, outcome.state) == (handle, JobState.FINISHED)


@pytest.mark.exhaustive
async def test_a_harness_that_was_cleaned_away_is_brought_again(tmp_path: Path) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        for file in (tmp_path / "work" / "harness").iterdir():
            file.unlink()
        gone, again = await one(launcher), await one(launcher)
    assert (gone.state, "harness is gone" in gone.reason) == (JobState.LOST, True)
    assert again.state == JobState.FINISHED


@pytest.mark.exhaustive
async def test_a_node_without_python_is_told_and_not_replaced_for_ever(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S, python="/nowhere/python3.11") as launcher:
        outcome = await one(launcher)
        left = nodes(slurm)
    assert (outcome.state, "exit code 127" in outcome.reason, left) == (JobState.LOST, True, [])
    assert "No such file" in outcome.reason


@pytest.mark.exhaustive
async def test_nodes_that_never_take_a_job_lose_it(tmp_path: Path, slurm: SlurmCluster) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S, setup=("trap - EXIT; exit 0",)) as launcher:
        outcome = await one(launcher)
        left = nodes(slurm, "RUNNING,PENDING")
    assert (outcome.state, "has taken it" in outcome.reason, left) == (JobState.LOST, True, [])


@pytest.mark.exhaustive
async def test_another_release_of_ours_has_nodes_of_its_own(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S) as launcher:
        await one(launcher)
    async with launching(tmp_path, warm_idle_s=IDLE_S, setup=("true",)) as launcher:
        outcome = await one(launcher)
    assert (outcome.state, len(nodes(slurm))) == (JobState.FINISHED, 2)


@pytest.mark.exhaustive
async def test_what_waits_for_nodes_of_another_release_is_lost_with_the_last_of_these(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S, setup=("sleep 600",)) as launcher:
        handle = await launcher.launch(a_job("accepted"))
    async with launching(tmp_path, warm_idle_s=IDLE_S) as another:
        waiting = await poll(another, handle)
        slurm.run("scancel", "--user=root")
        outcome = await over(another, handle)
    assert waiting.state == JobState.WAITING
    assert (outcome.state, "was changed" in outcome.reason) == (JobState.LOST, True)


@pytest.mark.exhaustive
async def test_setup_that_fails_loses_the_job_that_its_node_was_for(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path, warm_idle_s=IDLE_S, setup=("echo no cuda; exit 3",)) as launcher:
        outcome = await one(launcher)
        left = nodes(slurm)
    assert (outcome.state, left) == (JobState.LOST, [])
    assert outcome.reason == "the harness ended with exit code 3 and no result: no cuda"
