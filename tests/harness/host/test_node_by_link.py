"""The harness as one file on a node, and the real server: a job by its links, from end to end."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from kernelbot.launchers.links import NodeLinks
from kernelbot.protocol import (
    EventKind,
    JobSpec,
    Limits,
    Mode,
    RunResult,
    SandboxMode,
    Verdict,
    from_wire,
)
from kernelbot.runs.lifecycle import RunLifecycle, RunRules
from kernelbot.runs.nodes.service import open_links
from tests.harness.host.test_node import given_to_processes
from tests.harness.jobs import FAST
from tests.support.live import LiveServer, live_server
from tests.support.postgres import TestServer
from tests.support.problems import sort_problem
from tests.support.searching import MARK, bare_job, searching_submission
from tests.support.world import DEVICES

pytestmark = pytest.mark.exhaustive  # each run has test_an_author_finds_no_secret (test_node.py)

PAYLOAD, EVENTS = "KERNELBOT_PAYLOAD_URL", "KERNELBOT_EVENTS_URL"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("archive") / "kernelbot-harness.pyz")


@pytest.fixture(scope="module")
def live(postgres: TestServer) -> Iterator[LiveServer]:
    with postgres.database() as url, live_server(url) as server:
        definition = dataclasses.replace(sort_problem(), spec=bare_job().problem)
        boards = server.world.services.boards
        server.call(
            boards.create(server.world.admin.user, definition, name="sort", devices=("CPU",))
        )
        yield server


@dataclass(frozen=True)
class Job:
    """What a launcher has when it launches."""

    spec: JobSpec
    submission_id: int
    links: NodeLinks


async def _launch(live: LiveServer, source: str) -> Job:
    rules = RunRules(Limits(), FAST, SandboxMode.REQUIRED, stale_s=30)
    await live.world.submit(mode=Mode.TEST, content=source.encode())
    claim = await RunLifecycle(live.world.database, DEVICES, rules).claim("CPU", "w")
    assert claim is not None
    links = await open_links(live.world.database, live.url, b"")
    return Job(claim.spec, claim.submission_id or 0, links.for_job(claim.spec.job_id, 600))


def command(archive: Path, folder: Path) -> list[str]:
    options = ["--payload-url-env", PAYLOAD, "--events-url-env", EVENTS]
    places = ["--result", str(folder / "result.json"), "--locks", str(folder / "locks")]
    return [sys.executable, "-I", str(archive), "node", *options, *places]


def environment(job: Job) -> dict[str, str]:
    return {**os.environ, PAYLOAD: job.links.payload_url, EVENTS: job.links.events_url}


async def told(live: LiveServer, job: Job) -> list[str]:
    world = live.world
    found: list[str] = []
    async for event in world.services.submissions.events(world.admin.user, job.submission_id):
        found.append(event.kind)
        if event.kind == EventKind.PHASE_FINISHED:
            break
    return found


def test_a_job_by_its_links_of_which_its_author_finds_none(
    live: LiveServer, archive: Path, tmp_path: Path
) -> None:
    marks = [MARK, "signature=", "/payload?", PAYLOAD]
    source = searching_submission(["/tmp", "/dev/shm", str(tmp_path)], marks)
    job = live.call(_launch(live, source))
    subprocess.run(command(archive, tmp_path), env=environment(job), timeout=60, check=True)
    result = from_wire(RunResult, json.loads((tmp_path / "result.json").read_text()))
    cases = [EventKind.CASE] * len(job.spec.problem.tests)
    assert (result.job_id, result.verdict) == (job.spec.job_id, Verdict.ACCEPTED), result.failure
    assert live.call(told(live, job)) == [
        *("queued", "dispatched", "running"),
        EventKind.PHASE_STARTED,
        *cases,
        EventKind.PHASE_FINISHED,
    ]


def signatures(job: Job) -> list[str]:
    return [url.partition("signature=")[2] for url in (job.links.payload_url, job.links.events_url)]


@pytest.mark.exhaustive
def test_no_link_is_left_on_the_node_while_the_author_runs(
    live: LiveServer, archive: Path, tmp_path: Path
) -> None:
    source = "import time\ndef custom_kernel(data):\n    time.sleep(60)\n"
    job = live.call(_launch(live, source))
    with subprocess.Popen(command(archive, tmp_path), env=environment(job)) as running:
        _until_begun(live, job)
        left = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        seen = given_to_processes(running.pid) + b"".join(left)
        running.send_signal(signal.SIGTERM)
        running.wait(60)
    assert [mark for mark in (*signatures(job), MARK) if mark.encode() in seen] == []


def _until_begun(live: LiveServer, job: Job) -> None:
    """Told live: the author's code runs while the platform shows that it does."""
    deadline = time.monotonic() + 60
    while not live.call(_has_begun(live, job)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


async def _has_begun(live: LiveServer, job: Job) -> bool:
    async with live.world.database.read() as session:
        row = await session.one(
            "SELECT 1 FROM events WHERE submission_id = %(id)s AND kind = 'phase_started'",
            {"id": job.submission_id},
        )
    return row is not None


@pytest.mark.exhaustive
def test_without_the_platform_there_is_a_result_that_says_so(archive: Path, tmp_path: Path) -> None:
    link = "http://127.0.0.1:1/api/v1/jobs/1/payload?signature=secret"
    given = {**os.environ, PAYLOAD: "file:///etc/passwd", EVENTS: link}
    ended = subprocess.run(
        command(archive, tmp_path), env=given, timeout=60, check=False, capture_output=True
    )
    result = from_wire(RunResult, json.loads((tmp_path / "result.json").read_text()))
    assert (ended.returncode, result.attempt_lost) == (2, True)
    assert result.failure is not None
    assert "isn't one of HTTP" in result.failure.message
