"""The harness itself on the cluster's node."""

import asyncio
import contextlib
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripts.slurm_cluster import SlurmCluster

from kernelbot.harness.archive import build
from kernelbot.launchers.base import JobState
from kernelbot.launchers.results import read_result
from kernelbot.launchers.slurm import SlurmLauncher
from kernelbot.protocol import EventKind, Mode, Verdict, encode_payload
from kernelbot.protocol.job import FollowUp
from tests.launchers.slurm.test_cluster import over
from tests.launchers.slurm.test_warm import kill_script, nodes
from tests.launchers.stages import slurm_launcher, slurm_settings
from tests.support.exhaustive import cases
from tests.support.results import LONG_S, result_in
from tests.support.searching import MARK, bare_job, searching_submission
from tests.support.waiting import until

# Each run has test_no_secret_lies_here_while_the_author_runs (../test_local.py)
pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("harness") / "kernelbot-harness.pyz")


def job_id() -> str:
    return f"1.1.{secrets.token_hex(6)}"


async def verdict_of(launcher: SlurmLauncher, source: str) -> Verdict:
    job = bare_job(source, job_id=job_id(), secret=True)
    result = result_in(await over(launcher, await launcher.launch(job), 100), job)
    assert result.verdict == Verdict.ACCEPTED, result.failure
    return result.verdict


async def test_an_author_finds_no_secret_on_the_node(
    harness: Path, tmp_path: Path, slurm: SlurmCluster
) -> None:
    places = [str(tmp_path), str(slurm.work), "/var/spool", "/dev/shm"]
    async with slurm_launcher(slurm_settings(tmp_path / "work"), harness) as launcher:
        found = await verdict_of(launcher, searching_submission(places, [MARK]))
    assert found == Verdict.ACCEPTED


def commands_with(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word in (line := path.read_text()):
                found.append(line)
    return found


STAYS = """
import os, subprocess, sys

for place in ("/tmp", "/dev/shm", os.getcwd()):
    try:
        with open(os.path.join(place, "left"), "w") as file:
            file.write("HALF1" + "HALF2")
    except OSError:
        pass
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600) # HALF1" + "HALF2"])

def custom_kernel(data):
    return sorted(data)
"""


@pytest.mark.exhaustive
async def test_an_author_finds_nothing_of_the_one_before_on_a_warm_node(
    harness: Path, tmp_path: Path, slurm: SlurmCluster
) -> None:
    places = [str(tmp_path), str(slurm.work), "/var/spool", "/dev/shm", "/tmp"]
    settings = slurm_settings(tmp_path / "work", warm_idle_s=600.0)
    searching = searching_submission(places, [MARK, "HALF1HALF2"])
    async with slurm_launcher(settings, harness) as launcher:
        jobs = [bare_job(text, job_id=job_id(), secret=True) for text in (STAYS, searching)]
        outcomes = [await over(launcher, await launcher.launch(job), 200) for job in jobs]
        running = slurm.run("squeue", "--noheader", "--states=all", "--format=%Z").stdout.split()
    verdicts = [
        result_in(outcome, job).verdict for outcome, job in zip(outcomes, jobs, strict=True)
    ]
    assert verdicts[1] == Verdict.ACCEPTED, result_in(outcomes[1], jobs[1]).failure
    assert (verdicts[0], running.count(str(tmp_path / "work"))) == (Verdict.ACCEPTED, 1)


@pytest.mark.exhaustive
async def test_a_warm_node_ends_with_its_script(
    harness: Path, tmp_path: Path, slurm: SlurmCluster
) -> None:
    source = "import time\ndef custom_kernel(data):\n    time.sleep(20)\n"
    settings = slurm_settings(tmp_path / "work", warm_idle_s=600.0)
    events = tmp_path / "work" / "jobs"
    async with slurm_launcher(settings, harness) as launcher:
        handle = await launcher.launch(bare_job(source, job_id=job_id()))
        await until(lambda: any("phase_started" in p.read_text() for p in events.glob("*/ev*")))
        (number,) = nodes(slurm)
        kill_script(slurm, number)
        await until(lambda: not commands_with(f"{tmp_path}/work/harness"))
        outcome = await over(launcher, handle, 100)
        again = await over(launcher, await launcher.launch(bare_job(job_id=job_id())), 100)
    assert (outcome.state, again.state) == (JobState.LOST, JobState.FINISHED)


@pytest.mark.exhaustive
async def test_progress_comes_with_the_polls(harness: Path, tmp_path: Path) -> None:
    job = bare_job(job_id=job_id())
    kinds = []
    async with slurm_launcher(slurm_settings(tmp_path / "work"), harness) as launcher:
        handle = await launcher.launch(job)
        async with asyncio.timeout(100):
            while True:
                outcome = (await launcher.poll([handle]))[handle]
                kinds += [event.kind for event in outcome.events]
                if outcome.state.is_over:
                    break
                await asyncio.sleep(0.1)
    assert (kinds[0], kinds[-1]) == (EventKind.STARTED, EventKind.FINISHED)
    assert kinds.count(EventKind.CASE) == len(job.problem.tests)


@pytest.mark.parametrize(
    "changes",
    [{"max_script_bytes": 10}, {}, {"warm_idle_s": 600.0}],
    ids=["in a file", "in the script", "on a warm node"],
)
@pytest.mark.exhaustive
async def test_no_secret_is_left_on_the_node_while_the_author_runs(
    harness: Path, tmp_path: Path, slurm: SlurmCluster, changes: dict[str, Any]
) -> None:
    source = "import time\ndef custom_kernel(data):\n    time.sleep(20)\n"
    job = bare_job(source, job_id=job_id(), secret=True)
    marks = [encode_payload(job)[:64].encode(), MARK.encode()]
    settings = slurm_settings(tmp_path / "work", **changes)
    async with slurm_launcher(settings, harness) as launcher:
        handle = await launcher.launch(job)
        events = tmp_path / "work" / "jobs" / job.job_id / "events.jsonl"
        await until(lambda: events.exists() and "phase_started" in events.read_text(), 100)
        places = (tmp_path / "work", slurm.work / "d")  # what a node keeps
        files = [path for place in places for path in place.rglob("*") if path.is_file()]
        texts = {str(path): path.read_bytes() for path in files}
        found = [name for name, text in texts.items() if any(mark in text for mark in marks)]
        state = (await launcher.poll([handle]))[handle].state
        await launcher.cancel(handle)
    assert (state, found) == (JobState.RUNNING, [])


@pytest.mark.exhaustive  # each run has test_no_secret_lies_here_while_the_author_runs
@pytest.mark.parametrize("warm_idle_s", cases([0.0, 600.0], always=[0.0]))
async def test_public_and_secret_run_have_one_allocation(
    harness: Path, tmp_path: Path, slurm: SlurmCluster, warm_idle_s: float
) -> None:
    told = FollowUp(job_id(), Mode.TEST, 7_654_321)
    job = replace(bare_job(STAYS, job_id=job_id()), follow_up=told)
    settings = slurm_settings(tmp_path / "work", warm_idle_s=warm_idle_s)
    async with slurm_launcher(settings, harness) as launcher:
        outcome = await over(launcher, await launcher.launch(job), 200)
        running = slurm.run("squeue", "--noheader", "--states=all", "--format=%Z").stdout.split()
    assert outcome.left is not None, outcome.reason
    both = [read_result(outcome.left, job, LONG_S, of_next=of_next) for of_next in (False, True)]
    assert [(one.job_id, one.verdict) for one in both] == [
        (job.job_id, Verdict.ACCEPTED),
        (told.job_id, Verdict.ACCEPTED),
    ]
    assert running.count(str(tmp_path / "work")) == 1
