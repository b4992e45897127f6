"""The process with Ray's package, with a stand-in for that: how long it takes to be connected is
the test's to say."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.base import Availability
from kernelbot.launchers.ray import RayDevice, RayLauncher, RaySettings
from kernelbot.launchers.ray.messages import KeeperAnswer, KeeperQuestion, KeeperRequest
from kernelbot.launchers.ray.ray_process import RayProcess
from tests.support.waiting import until

RAY = """
import pathlib, time
from ray import cloudpickle, exceptions

FOLDER = pathlib.Path(__file__).parents[1]

def init(*_args, **_named):
    with open(FOLDER / "begun", "a") as begun:
        begun.write("one\\n")
    while not (FOLDER / "connected").exists():
        if (FOLDER / "refused").exists():
            raise ConnectionError("no head there")
        time.sleep(0.01)

def nodes():
    return [{"Alive": True, "Resources": {"CPU": 2.0}}]
"""
NODES = KeeperQuestion(ask=KeeperRequest.NODES)
ANSWER = KeeperAnswer(nodes=({"CPU": 2.0},))


@dataclass
class Place:
    """A process, and the folder of the stand-in for Ray."""

    process: RayProcess
    folder: Path

    @property
    def begun(self) -> int:
        """How many starts have come as far as to connect."""
        path = self.folder / "begun"
        return len(path.read_text().split()) if path.exists() else 0

    def now(self, what: str) -> None:
        """From now on who connects is `connected`, or `refused`."""
        (self.folder / what).touch()

    async def give_up_asking(self) -> None:
        """Ask, and wait for the answer no longer than until the start connects."""
        asking = asyncio.create_task(self.process.ask(NODES))
        await until(lambda: self.begun)
        asking.cancel()
        await asyncio.wait([asking])


@pytest.fixture
async def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    package = tmp_path / "ray"
    package.mkdir()
    (package / "__init__.py").write_text(RAY)
    (package / "cloudpickle.py").write_text("register_pickle_by_value = lambda module: None\n")
    (package / "exceptions.py").write_text("class RayError(Exception): ...\n")
    harness = tmp_path / "node.pyz"
    harness.touch()
    path = filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    settings = RaySettings("10.0.0.1:6379", {}, start_s=600)
    process = RayProcess(settings, harness)
    yield Place(process, tmp_path)
    await process.close()


@pytest.mark.exhaustive  # each run has test_who_waits_for_a_node_may_bring_it_up
async def test_who_gives_up_asking_ends_no_start(here: Place) -> None:
    await here.give_up_asking()
    asking = asyncio.create_task(here.process.ask(NODES))
    here.now("connected")
    assert (ANSWER, 1) == (await asking, here.begun)


@pytest.mark.exhaustive  # each run has test_who_waits_for_a_node_may_bring_it_up
async def test_why_a_start_failed_is_told_to_the_next_who_asks(here: Place) -> None:
    await here.give_up_asking()
    here.now("refused")
    with pytest.raises(SchedulerError, match="can't be reached: ConnectionError: no head there"):
        await here.process.ask(NODES)
    here.now("connected")
    assert (ANSWER, 2) == (await here.process.ask(NODES), here.begun)


async def test_who_waits_for_a_node_may_bring_it_up(here: Place) -> None:
    """In the cluster of the stand-in there is none with a GPU."""
    here.now("connected")
    devices = {"H100": RayDevice(1.0), "B200": RayDevice(1.0, autoscaled=True)}
    settings = RaySettings("10.0.0.1:6379", devices, start_s=600)
    launcher = RayLauncher(settings, here.folder / "node.pyz")
    try:
        found = [await launcher.availability(device) for device in devices]
    finally:
        await launcher.close()
    missing = "no node of the Ray cluster has 1 GPU, 1 CPU"
    assert [Availability(False, missing), Availability(True)] == found


@pytest.mark.exhaustive  # each run has test_who_waits_for_a_node_may_bring_it_up
async def test_closing_ends_a_start(here: Place) -> None:
    await here.give_up_asking()
    await here.process.close()
    here.now("connected")
    assert (ANSWER, 2) == (await here.process.ask(NODES), here.begun)
