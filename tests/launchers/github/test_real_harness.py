"""The workflow's step with the harness itself, and with an author who looks for secrets."""

import contextlib
import random
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from kernelbot.launchers.base import JobState
from kernelbot.protocol import JobSpec, Verdict, encode_payload
from tests.fakes.github import fake_github
from tests.fakes.links import FakeLinks, fake_links
from tests.launchers.github.places import Place
from tests.launchers.stages import github_launcher, github_settings
from tests.support.exhaustive import cases
from tests.support.results import result_in
from tests.support.searching import MARK, bare_job, searching_submission
from tests.support.waiting import until

# Each run has test_no_secret_lies_here_while_the_author_runs (../test_local.py)
pytestmark = pytest.mark.exhaustive

SLEEPER = """
import time
open("/proc/self/comm", "w").write("authors_own")
time.sleep(20)
"""


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("harness") / "kernelbot-harness.pyz")


def a_job(source: str) -> JobSpec:
    return bare_job(source, job_id=f"1.1.{secrets.token_hex(6)}", secret=True)


@contextlib.asynccontextmanager
async def place(folder: Path, links: FakeLinks | None) -> AsyncIterator[Place]:
    with fake_github(folder / "runners", runners=1) as github:
        async with github_launcher(github_settings(github), links) as launcher:
            yield Place(github, launcher, links)


@pytest.mark.parametrize(
    "fetched", cases([True, False], always=[True]), ids=["by its hash", "built on the runner"]
)
async def test_an_author_finds_no_secret_on_the_runner(
    harness: Path, tmp_path: Path, fetched: bool
) -> None:
    job = a_job(searching_submission([str(tmp_path), "/dev/shm", "/tmp"], [MARK]))
    with fake_links(harness) as links:
        async with place(tmp_path, links if fetched else None) as here:
            outcome = await here.over(await here.launcher.launch(job), 100)
    result = result_in(outcome, job)
    assert result.verdict == Verdict.ACCEPTED, result.failure
    assert ("/harness.pyz" in links.fetched, job.job_id in links.events) == (fetched, fetched)


@pytest.mark.parametrize("large", [False, True], ids=["in the inputs", "behind a link"])
@pytest.mark.exhaustive
async def test_no_secret_is_left_on_the_runner_while_the_author_runs(
    harness: Path, tmp_path: Path, large: bool
) -> None:
    noise = random.Random(1).randbytes(60_000 * large).hex()
    job = a_job(f"{SLEEPER}# {noise}\n")
    with fake_links(harness) as links:
        links.jobs[job.job_id] = job
        named = links.for_job(job.job_id, 60)
        marks = [text[-64:].encode() for text in (named.payload_url, named.events_url)]
        marks += [encode_payload(job)[:64].encode(), MARK.encode()]
        async with place(tmp_path, links) as here:
            handle = await here.launcher.launch(job)
            await until(_author_runs, 100)
            found = _with_a_mark(tmp_path / "runners", "**/*", marks)
            told = _with_a_mark(Path("/proc"), "[0-9]*/environ", marks)
            told += _with_a_mark(Path("/proc"), "[0-9]*/cmdline", marks)
            state = (await here.poll(handle)).state
            await here.launcher.cancel(handle)
            await here.over(handle)
    assert (state, found, told) == (JobState.RUNNING, [], [])
    assert (f"/payload/{job.job_id}" in links.fetched) == large


def _author_runs() -> bool:
    return any(_read(path) == b"authors_own\n" for path in Path("/proc").glob("[0-9]*/comm"))


def _with_a_mark(folder: Path, pattern: str, marks: list[bytes]) -> list[str]:
    """Files that hold one of the marks."""
    files = [path for path in folder.glob(pattern) if path.is_file()]
    return [str(path) for path in files if any(mark in _read(path) for mark in marks)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
