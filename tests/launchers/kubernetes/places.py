"""A launcher over the fake cluster, as tests have it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelbot.launchers.base import Launcher, Traits
from kernelbot.launchers.kubernetes import (
    KubernetesDevice,
    KubernetesLauncher,
    KubernetesSettings,
)
from tests.fakes.kubernetes import NAMESPACE, TOKEN, FakeKubernetes, fake_kubernetes
from tests.fakes.links import LinksElsewhere
from tests.launchers.plans import DEVICE, KubernetesPlan, Plan
from tests.launchers.stages import UNHEARD_OF, started
from tests.support.fake_node import build_fake_node

IMAGE = "images.example.org/kernelbot-runner:latest"


class KubernetesStage:
    """See `Stage`."""

    def __init__(self, kubernetes: FakeKubernetes, launcher: KubernetesLauncher) -> None:
        self._launcher = launcher
        self._kubernetes = kubernetes

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, folder: Path, _request: pytest.FixtureRequest
    ) -> AsyncIterator["KubernetesStage"]:
        """A namespace of its own."""
        async with contextlib.AsyncExitStack() as stack:
            kubernetes = await stack.enter_async_context(a_cluster(folder))
            yield cls(
                kubernetes, await stack.enter_async_context(started(plan(kubernetes).build()))
            )

    @property
    def launcher(self) -> Launcher:
        return self._launcher

    @property
    def unknown_handle(self) -> str:
        return "6fd6bd9c-1b1e-4f4e-9bd5-2f0b8e9b0f5e:999.1.0123456789ab"

    @property
    def plan(self) -> Plan:
        return plan(self._kubernetes)

    def judged(self) -> list[str]:
        return self._kubernetes.cluster.judged()

    def confuse(self, handle: str) -> None:
        cluster = self._kubernetes.cluster
        cluster.tell_phase(self._kubernetes.job(handle), UNHEARD_OF)

    async def left(self) -> list[str]:
        store = self._kubernetes.cluster.store
        for _ in range(100):
            if not store.objects:
                break
            await asyncio.sleep(0.02)  # the cluster deletes later what goes with a Job
        return [f"{kind} {name}" for kind, name in store.objects]


@contextlib.asynccontextmanager
async def a_cluster(folder: Path, **options: Any) -> AsyncIterator[FakeKubernetes]:
    """One that says nothing that Kubernetes couldn't say; `options` are those of `FakeCluster`."""
    harness = build_fake_node(folder / "node.pyz")
    with fake_kubernetes(folder / "cluster", harness, **options) as kubernetes:
        yield kubernetes
    assert [] == [told for told in kubernetes.mistakes if UNHEARD_OF not in told]


def settings(**changes: Any) -> KubernetesSettings:
    """A launcher that is quick, with a device that the fake's node has."""
    given: dict[str, Any] = {
        "namespace": NAMESPACE,
        "devices": {DEVICE: KubernetesDevice(None, IMAGE)},
        "settle_s": 0.5,
        "image_s": 0.3,
        "stuck_s": 0.2,
        "traits": Traits(shortest_poll_s=0.05, longest_poll_s=0.2, check_s=1, silence_s=60),
    }
    return KubernetesSettings(**{**given, **changes})


def plan(
    kubernetes: FakeKubernetes, links: LinksElsewhere | None = None, **changes: Any
) -> KubernetesPlan:
    """A launcher for it; `changes` are those of the settings."""
    return KubernetesPlan(settings(**changes), kubernetes.url, TOKEN, links)


def with_device(**changes: Any) -> dict[str, Any]:
    """The settings' devices: the one, changed."""
    return {"devices": {DEVICE: replace(KubernetesDevice(None, IMAGE), **changes)}}
