"""A worker's checks, watcher and jobs over the fake Buildkite, in virtual time and without sockets:
how many requests it takes, and what waits for what."""

import asyncio
import contextlib
import itertools
import statistics
import time
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path

import httpx
import pytest

from kernelbot.launchers.buildkite import BuildkiteLauncher, BuildkiteSettings
from kernelbot.protocol import DeviceSpec, JobSpec, Vendor
from kernelbot.protocol.result_size import most_bytes
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.worker.checking import Checks
from kernelbot.worker.retries import with_retries
from kernelbot.worker.watching import Watcher
from tests.fakes import buildkite as fake
from tests.fakes.buildkite import FakeBuildkite
from tests.fakes.buildkite.agents import FakeAgent, FakeAgents, FakeBuild
from tests.fakes.serving import Request
from tests.fakes.storage import FakeStorage
from tests.launchers.buildkite.places import result_file
from tests.launchers.plans import DEVICE
from tests.launchers.stages import a_job
from tests.support.virtual_time import run_virtually

UPLOAD_S = 2.0
JUDGE_S = 30.0
_STORAGE = "https://storage"


@dataclass
class Course:
    """What happened. Seconds since the beginning."""

    requests_s: list[float] = field(default_factory=list)
    refused: int = 0
    waits_s: list[float] = field(default_factory=list)
    """From the end of each job to its result."""
    unavailable: int = 0
    """Looks by which the device took no jobs."""
    judged: int = 0

    @property
    def took_s(self) -> float:
        """Until the last request."""
        return self.requests_s[-1]

    @property
    def most_a_minute(self) -> int:
        """Requests in the busiest minute."""
        return max(sum(s <= each < s + 60 for each in self.requests_s) for s in self.requests_s)

    @property
    def longest_silence_s(self) -> float:
        """For which no request was made."""
        times = self.requests_s
        return max((b - a for a, b in itertools.pairwise(times)), default=0.0)

    def row(self) -> str:
        """For people."""
        return (
            f"{self.judged} judged in {self.took_s:.0f} s: {len(self.requests_s)} requests, "
            f"{len(self.requests_s) / max(self.took_s, 60) * 60:.0f} a minute, at most "
            f"{self.most_a_minute}, {self.refused} refused; longest silence "
            f"{self.longest_silence_s:.1f} s; a result after {statistics.median(self.waits_s):.1f}"
            f" s (at most {max(self.waits_s):.1f}); unavailable {self.unavailable}"
        )


class Simulation:
    """Some jobs at once, each judged by an agent of its own."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self._jobs = jobs
        agents = FakeAgents(folder, folder, tuple(f"nvidia-h100-{n}" for n in range(jobs)))
        agents.agents = [FakeAgent(queue, folder) for queue in (*agents.queues, agents.uploads)]
        self.buildkite = FakeBuildkite(agents, FakeStorage(_STORAGE))
        self.course = Course()
        self._ended_s: dict[str, float] = {}
        self._specs: dict[str, JobSpec] = {}
        self._judging: set[asyncio.Task[None]] = set()

    async def run(self) -> Course:
        """Until all results are there, and deleted at Buildkite."""
        settings = BuildkiteSettings(
            fake.ORGANIZATION, fake.PIPELINE, fake.TOKEN, {DEVICE: self.buildkite.agents.queues}
        )
        launcher = BuildkiteLauncher(settings, None)
        launcher._api._http._client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))
        watcher = Watcher("agents", launcher)
        device = DeviceConfig(DeviceSpec(DEVICE, Vendor.CPU), launchers=("agents",))
        checks = Checks({"agents": launcher}, (device,))
        others = [asyncio.create_task(each) for each in (watcher.run(), checks.run("agents"))]
        looking = asyncio.create_task(self._look(checks, device))
        await asyncio.sleep(1)
        await asyncio.gather(*(self._follow(launcher, watcher) for _ in range(self._jobs)))
        for task in (*others, looking):
            task.cancel()
        await asyncio.gather(*others, looking, return_exceptions=True)
        await launcher.close()
        self.course.refused = self.buildkite.refused
        return self.course

    async def _follow(self, launcher: BuildkiteLauncher, watcher: Watcher) -> None:
        job = a_job("accepted")
        self._specs[f"kernelbot-{job.job_id}"] = job
        handle = await with_retries(lambda: launcher.launch(job), 60.0)
        async for outcome in watcher.changes(handle, most_bytes(job)):
            if outcome.state.is_over:
                assert outcome.left is not None, outcome
                self.course.judged += 1
                waited_s = time.monotonic() - self._ended_s[f"kernelbot-{job.job_id}"]
                self.course.waits_s.append(waited_s)
        await launcher.forget(handle)

    async def _look(self, checks: Checks, device: DeviceConfig) -> None:
        while True:
            await asyncio.sleep(1)
            self.course.unavailable += not checks.available(device)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.1)  # the way there and back
        headers = Message()
        for name, value in request.headers.items():
            headers[name] = value
        query = dict(request.url.params)
        asked = Request(request.method, request.url.path, query, headers, await request.aread())
        if str(request.url).startswith(_STORAGE):
            response = self.buildkite.storage.answer(asked)
            return httpx.Response(response.status, content=response.body)
        self.course.requests_s.append(time.monotonic())
        known = len(self.buildkite.builds)
        response = self.buildkite.answer(asked)
        for build in self.buildkite.builds[known:]:
            task = asyncio.create_task(self._judge(build))
            self._judging.add(task)
            task.add_done_callback(self._judging.discard)
        return httpx.Response(response.status, content=response.body, headers=response.headers)

    async def _judge(self, build: FakeBuild) -> None:
        agents = self.buildkite.agents
        await asyncio.sleep(UPLOAD_S)
        build.state, build.judging.state = "running", "running"
        (agent,) = (each for each in agents.agents if each.queue == build.judging.queue)
        agent.build = build
        await asyncio.sleep(JUDGE_S)
        agent.build = None
        agents.end(build, "passed", result_file(self._specs[build.message]))
        self._ended_s[build.message] = time.monotonic()


def simulate(monkeypatch: pytest.MonkeyPatch, folder: Path, jobs: int) -> Course:
    """The course of so many jobs at once."""
    return run_virtually(monkeypatch, lambda: Simulation(folder, jobs).run())


if __name__ == "__main__":
    for count in (1, 7, 20, 50):
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            print(f"{count:3}: {simulate(patch, Path(), count).row()}", flush=True)
