"""What only a real cluster shows: devices, queues, nodes and controllers that go and come."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripts.slurm_cluster import SlurmCluster

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.slurm import SlurmLauncher
from kernelbot.protocol import Fault, JobSpec
from tests.launchers.stages import a_job, slurm_launcher, slurm_settings
from tests.support.fake_node import build_fake_node
from tests.support.results import result_in
from tests.support.waiting import until


@contextlib.asynccontextmanager
async def launching(folder: Path, **changes: Any) -> AsyncIterator[SlurmLauncher]:
    harness = build_fake_node(folder / "node.pyz")
    settings = slurm_settings(folder / "work", **changes)
    async with slurm_launcher(settings, harness) as launcher:
        yield launcher


def judged(folder: Path) -> list[str]:
    log = folder / "work" / "jobs" / "judged.log"
    return log.read_text().split() if log.exists() else []


async def poll(launcher: SlurmLauncher, handle: str) -> Outcome:
    return (await launcher.poll([handle]))[handle]


async def over(launcher: SlurmLauncher, handle: str, within_s: float = 60) -> Outcome:
    async with asyncio.timeout(within_s):
        while True:
            outcome = await poll(launcher, handle)
            if outcome.state.is_over:
                return outcome
            await asyncio.sleep(0.1)


def devices(outcome: Outcome, job: JobSpec) -> str:
    return result_in(outcome, job).system.notes[0]


@pytest.mark.exhaustive
async def test_jobs_at_once_get_different_gpus_and_a_third_waits(tmp_path: Path) -> None:
    may_end = tmp_path / "may-end"
    async with launching(tmp_path) as launcher:
        jobs = [a_job(f"until {may_end} accepted", "H100") for _ in range(3)]
        handles = [await launcher.launch(job) for job in jobs]
        await until(lambda: len(judged(tmp_path)) == 2, 60)
        found = (await launcher.poll(handles)).values()
        states = [outcome.state for outcome in found]
        whys = [outcome.reason for outcome in found if outcome.state is JobState.WAITING]
        may_end.touch()
        outcomes = [await over(launcher, handle) for handle in handles]
    assert sorted(states) == [JobState.RUNNING, JobState.RUNNING, JobState.WAITING]
    assert ["others are before it, or no node is free"] == whys
    first = zip(outcomes[:2], jobs[:2], strict=True)
    assert sorted(devices(outcome, job) for outcome, job in first) == ["0;0", "1;1"]
    assert outcomes[2].state == JobState.FINISHED


async def test_a_device_that_cant_be_had_is_told_in_slurms_words(tmp_path: Path) -> None:
    async with launching(tmp_path) as launcher:
        with pytest.raises(SchedulerError, match="Requested node configuration is not available"):
            await launcher.launch(a_job("accepted", "B200"))
        found = await launcher.availability("B200")
    assert (found.available, found.note) == (False, "no node of Slurm's has gpu:b200:1")


@pytest.mark.exhaustive  # each run has test_a_job_submitted_twice_is_judged_once
async def test_a_job_that_somebody_cancels_is_the_schedulers_loss(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path) as launcher:
        handle = await launcher.launch(a_job("sleep 60 accepted"))
        await until(lambda: judged(tmp_path), 60)
        slurm.run("scancel", handle.split(":")[0])
        outcome = await over(launcher, handle)
    assert outcome == Outcome(
        JobState.LOST, reason="somebody cancelled it in Slurm", fault=Fault.SCHEDULER
    )


@pytest.mark.exhaustive
async def test_a_drained_node_makes_its_devices_unavailable(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    drain = (f"NodeName={slurm.node}", "State=DRAIN", "Reason=new fans")
    async with launching(tmp_path) as launcher:
        slurm.run("scontrol", "update", *drain)
        try:
            found = await launcher.availability("H100")
            handle = await launcher.launch(a_job("accepted", "H100"))
            waiting = await poll(launcher, handle)
        finally:
            slurm.run("scontrol", "update", drain[0], "State=RESUME")
        outcome = await over(launcher, handle)
    assert (found.available, "new fans" in found.note) == (False, True)
    assert (waiting.state, outcome.state) == (JobState.WAITING, JobState.FINISHED)


@pytest.mark.exhaustive
async def test_a_controller_that_is_started_again_has_lost_nothing(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    may_end = tmp_path / "may-end"
    async with launching(tmp_path) as launcher:
        handle = await launcher.launch(a_job(f"until {may_end} accepted"))
        await until(lambda: judged(tmp_path), 60)
        slurm.stop_controller()
        try:
            with pytest.raises(SchedulerError, match="Unable to contact"):
                await launcher.poll([handle])
            with pytest.raises(SchedulerError, match="Unable to contact"):
                await launcher.launch(a_job("accepted"))
            with pytest.raises(SchedulerError, match="Unable to contact"):
                await launcher.availability("CPU")
        finally:
            slurm.start_controller()
        may_end.touch()
        outcome = await over(launcher, handle, 90)
    assert (outcome.state, len(judged(tmp_path))) == (JobState.FINISHED, 1)


@pytest.mark.exhaustive
async def test_a_number_that_belongs_to_another_job_is_not_ours(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path) as launcher:
        handle = await launcher.launch(a_job("sleep 60 accepted"))
        stranger = handle.split(":")[0] + ":1.1.ffffffffffff"
        await launcher.cancel(stranger)
        outcome = await over(launcher, stranger)
        still = await poll(launcher, handle)
    assert (outcome.state, outcome.fault) == (JobState.LOST, Fault.SCHEDULER)
    assert not still.state.is_over


@pytest.mark.exhaustive
async def test_a_job_that_takes_too_long_is_ended_by_slurm(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    async with launching(tmp_path) as launcher:
        handle = await launcher.launch(a_job("sleep 600 accepted"))
        number = handle.split(":")[0]
        await until(lambda: judged(tmp_path), 60)
        limit = slurm.run("squeue", "-h", f"--jobs={number}", "-o", "%l").stdout.strip()
    # All time limits of the problem together, and five minutes.
    assert limit == "13:00"


@pytest.mark.exhaustive
async def test_a_payload_too_long_for_slurm_goes_through_a_file(tmp_path: Path) -> None:
    async with launching(tmp_path, max_script_bytes=10) as launcher:
        handle = await launcher.launch(a_job("accepted"))
        outcome = await over(launcher, handle)
        left = list((tmp_path / "work" / "payloads").iterdir())
    assert (outcome.state, left) == (JobState.FINISHED, [])


@pytest.mark.exhaustive
async def test_a_harness_that_was_cleaned_away_is_brought_again(tmp_path: Path) -> None:
    async with launching(tmp_path) as launcher:
        for file in (tmp_path / "work" / "harness").iterdir():
            file.unlink()
        gone = await over(launcher, await launcher.launch(a_job("accepted")))
        again = await over(launcher, await launcher.launch(a_job("accepted")))
    assert (gone.state, "harness is gone" in gone.reason) == (JobState.LOST, True)
    assert again.state == JobState.FINISHED


@pytest.mark.exhaustive
async def test_what_is_left_goes_once_a_day(tmp_path: Path) -> None:
    left = tmp_path / "work" / "payloads" / "1.1.a"
    async with launching(tmp_path) as launcher:
        found = []
        for later_s in (0.0, 86_400.0):
            launcher._folder._clean_at -= later_s
            left.touch()
            os.utime(left, (0, 0))
            await over(launcher, await launcher.launch(a_job("accepted")))
            found.append(left.exists())
    assert [True, False] == found


@pytest.mark.exhaustive
async def test_a_node_that_cant_write_is_told(tmp_path: Path) -> None:
    async with launching(tmp_path) as launcher:
        (tmp_path / "work" / "jobs").rmdir()
        outcome = await over(launcher, await launcher.launch(a_job("accepted")))
    assert (outcome.state, "can its node write" in outcome.reason) == (JobState.LOST, True)


@pytest.mark.exhaustive
async def test_a_node_without_python_is_told(tmp_path: Path) -> None:
    async with launching(tmp_path, python="/nowhere/python3.11") as launcher:
        outcome = await over(launcher, await launcher.launch(a_job("accepted")))
    assert (outcome.state, "exit code 127" in outcome.reason) == (JobState.LOST, True)
    assert "No such file" in outcome.reason


@pytest.mark.exhaustive
async def test_ssh_hands_every_word_over_as_it_is(tmp_path: Path) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')  # as sshd does it
    ssh.chmod(0o755)
    harness = build_fake_node(tmp_path / "node.pyz")
    settings = slurm_settings(tmp_path / "its $(id) work", prefix=(str(ssh), "login01"))
    async with slurm_launcher(settings, harness) as launcher:
        outcome = await over(launcher, await launcher.launch(a_job("accepted")))
    assert outcome.state == JobState.FINISHED


async def test_a_job_submitted_twice_is_judged_once(tmp_path: Path, slurm: SlurmCluster) -> None:
    job = a_job("accepted")
    async with launching(tmp_path) as launcher:
        handle = await launcher.launch(job)
        await over(launcher, handle)
        # As if Slurm had forgotten the first: the second finds what that one left.
        slurm.run("scontrol", "update", f"JobId={handle.split(':')[0]}", "JobName=forgotten")
        outcome = await over(launcher, await launcher.launch(replace(job)))
    assert (outcome.state, len(judged(tmp_path))) == (JobState.FINISHED, 1)
