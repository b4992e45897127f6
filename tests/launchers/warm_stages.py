"""Launchers whose nodes keep a host from one job to the next, with the harness itself."""

import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelbot.launchers.base import Launcher, Outcome
from kernelbot.launchers.modal import ModalDevice, ModalLauncher, ModalSettings
from kernelbot.protocol import JobSpec, RunResult
from tests.fakes.buildkite import FakeBuildkite, fake_buildkite
from tests.fakes.links import FakeLinks, fake_links
from tests.fakes.modal import FakeModal
from tests.launchers.plans import DEVICE
from tests.launchers.stages import MANY, buildkite_launcher, buildkite_settings, started
from tests.launchers.test_contract import over
from tests.support.results import result_in
from tests.support.searching import SORTED, bare_job
from tests.support.waiting import until
from tests.support.warm import pids_of_judges

ENDLESS = "def custom_kernel(data):\n    while True:\n        pass\n"
_AUTHORS_TURN = b"phase_started"


def a_job(source: str = SORTED, *, secret: bool = False) -> JobSpec:
    """One of its own that is judged in a second."""
    return bare_job(source, job_id=f"1.1.{secrets.token_hex(6)}", secret=secret)


@dataclass
class WarmStage:
    """One launcher, started, and what a test may do to its nodes."""

    launcher: Launcher
    links: FakeLinks
    homes: Callable[[], list[Path]]
    """Of the nodes that run: each has its host below it."""
    is_idle: Callable[[], bool]
    """Whether no node has a job, or what is left of one."""
    update: Callable[[Path], None]
    """Have nodes use another harness from now on."""

    async def outcome(self, job: JobSpec) -> Outcome:
        """What the job ends with."""
        return await over(self.launcher, await self.launcher.launch(job))

    async def judged(self, job: JobSpec) -> RunResult:
        """Its result."""
        return result_in(await self.outcome(job), job)

    async def begun(self, job: JobSpec) -> str:
        """The handle of a job whose author's code runs."""
        handle = await self.launcher.launch(job)
        told = self.links.events
        await until(lambda: _AUTHORS_TURN in b"".join(told.get(job.job_id, [])))
        return handle

    def hosts(self) -> list[int]:
        """Their processes, on all nodes."""
        found: list[int] = []
        for home in self.homes():
            for folder in (home / "warm", home / ".kernelbot" / "host"):
                found += pids_of_judges(folder) if folder.is_dir() else []
        return found


@contextlib.asynccontextmanager
async def modal_stage(folder: Path, harness: Path, idle_s: float) -> AsyncIterator[WarmStage]:
    """See `WarmStage`."""
    service = FakeModal(folder / "containers", harness)
    settings = ModalSettings({DEVICE: ModalDevice("judge_cpu")}, warm_idle_s=idle_s)

    def update(other: Path) -> None:
        service.harness = other

    try:
        with fake_links(harness) as links:
            async with started(ModalLauncher(settings, service.calls(), links)) as launcher:
                yield WarmStage(
                    launcher,
                    links,
                    lambda: [container.folder for container in service.containers],
                    lambda: not any(container.call for container in service.containers),
                    update,
                )
    finally:
        service.close()


@contextlib.asynccontextmanager
async def buildkite_stage(folder: Path, harness: Path, idle_s: float) -> AsyncIterator[WarmStage]:
    """See `WarmStage`."""
    with fake_buildkite(folder / "agents", harness, queues=("nvidia-h100-0",)) as buildkite:
        async with buildkite_stage_of(buildkite, harness, idle_s) as stage:
            yield stage


@contextlib.asynccontextmanager
async def buildkite_stage_of(
    buildkite: FakeBuildkite, harness: Path, idle_s: float
) -> AsyncIterator[WarmStage]:
    """See `WarmStage`. Its only agent listens to `nvidia-h100-0`."""
    if os.geteuid() != 0:
        pytest.skip("an ordinary user can't make a /dev for the agents")
    buildkite.limits.raise_to(MANY)
    settings = buildkite_settings(buildkite, warm_idle_s=idle_s, warm_limit_s=600.0)
    home = buildkite.agents.container("nvidia-h100-0")
    with fake_links(harness) as links:

        def update(other: Path) -> None:
            links.harness = other.read_bytes()

        async with buildkite_launcher(settings, links) as launcher:
            yield WarmStage(
                launcher,
                links,
                lambda: [home] if home.is_dir() else [],
                lambda: not any(agent.build for agent in buildkite.agents.agents),
                update,
            )


Opener = Callable[[Path, Path, float], AbstractAsyncContextManager[WarmStage]]
WARM_STAGES: dict[str, Opener] = {"buildkite": buildkite_stage, "modal": modal_stage}


def another_release(harness: Path, folder: Path) -> Path:
    """The same harness with other bytes, which don't change what it does."""
    made = folder / "other" / harness.name
    made.parent.mkdir()
    made.write_bytes(b"#!/usr/bin/env another\n" + harness.read_bytes())
    return made
