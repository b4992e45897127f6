"""The harness itself on the cluster's node."""

import asyncio
import secrets
from pathlib import Path

import pytest
from scripts.slurm_cluster import SlurmCluster

from kernelbot.harness.archive import build
from kernelbot.launchers.base import JobState
from kernelbot.launchers.slurm import SlurmLauncher
from kernelbot.protocol import EventKind, Verdict, encode_payload
from tests.launchers.slurm.test_cluster import over
from tests.launchers.stages import slurm_launcher, slurm_settings
from tests.support.results import result_in
from tests.support.searching import MARK, bare_job, searching_submission
from tests.support.waiting import until


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


@pytest.mark.parametrize("max_script_bytes", [10, 3_000_000], ids=["in a file", "in the script"])
async def test_no_secret_is_left_on_the_node_while_the_author_runs(
    harness: Path, tmp_path: Path, slurm: SlurmCluster, max_script_bytes: int
) -> None:
    source = "import time\ndef custom_kernel(data):\n    time.sleep(20)\n"
    job = bare_job(source, job_id=job_id(), secret=True)
    marks = [encode_payload(job)[:64].encode(), MARK.encode()]
    settings = slurm_settings(tmp_path / "work", max_script_bytes=max_script_bytes)
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
