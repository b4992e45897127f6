"""A launcher over a real Ray on this machine, as tests have it."""

import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kernelbot.launchers.base import Launcher, Traits
from kernelbot.launchers.ray import RayDevice, RayLauncher, RaySettings
from kernelbot.launchers.ray.messages import KeeperQuestion, KeeperRequest
from tests.launchers.plans import DEVICE, Plan, RayPlan
from tests.launchers.stages import started
from tests.support.fake_node import build_fake_node
from tests.support.ray_cluster import RayCluster


class RayStage:
    """See `Stage`."""

    def __init__(self, plan: RayPlan, cluster: RayCluster, launcher: RayLauncher) -> None:
        self._plan = plan
        self._cluster = cluster
        self._launcher = launcher
        self._before = len(cluster.judged())

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, folder: Path, request: pytest.FixtureRequest) -> AsyncIterator["RayStage"]:
        """On the module's cluster, in a namespace of its own."""
        cluster: RayCluster = request.getfixturevalue("ray")
        harness = build_fake_node(folder / "node.pyz")
        plan = RayPlan(settings(cluster, namespace=f"n{abs(hash(str(folder)))}"), harness)
        async with started(plan.build()) as launcher:
            yield cls(plan, cluster, launcher)

    @property
    def launcher(self) -> Launcher:
        return self._launcher

    @property
    def unknown_handle(self) -> str:
        return "0123456789ab:999.1.0123456789ab"

    @property
    def plan(self) -> Plan:
        return self._plan

    def judged(self) -> list[str]:
        return self._cluster.judged()[self._before :]

    def confuse(self, handle: str) -> None:
        """The keeper's words are our own."""

    async def left(self) -> list[str]:
        answer = await self._launcher._process.ask(KeeperQuestion(ask=KeeperRequest.POLL))
        return [f"{answer.kept} in the keeper"] if answer.kept else []


def settings(cluster: RayCluster, **changes: Any) -> RaySettings:
    """A launcher that is quick."""
    given: dict[str, Any] = {
        "address": cluster.address,
        "devices": {
            DEVICE: RayDevice(0.0, 0.1),
            "H100": RayDevice(1.0, 0.1, {"lab": 0.1}),
            "B200": RayDevice(16.0),
        },
        "python": sys.executable,
        "traits": Traits(shortest_poll_s=0.05, longest_poll_s=0.5, check_s=1, silence_s=60),
    }
    return RaySettings(**{**given, **changes})
