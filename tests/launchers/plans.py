"""Launchers over the schedulers of tests, before they are built: for any process to build them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kernelbot.launchers.base import Launcher
from kernelbot.launchers.buildkite import BuildkiteLauncher, BuildkiteSettings
from kernelbot.launchers.github import GithubLauncher, GithubSettings
from kernelbot.launchers.kubernetes import KubernetesLauncher, KubernetesSettings
from kernelbot.launchers.kubernetes.credentials import ClusterCredentials, FixedToken
from kernelbot.launchers.local import LocalLauncher, LocalSettings
from kernelbot.launchers.modal import ModalDevice, ModalLauncher, ModalSettings
from kernelbot.launchers.ray import RayLauncher, RaySettings
from kernelbot.launchers.slurm import SlurmLauncher, SlurmSettings
from tests.fakes.links import LinksElsewhere
from tests.fakes.modal import FakeModal, RemoteModal
from tests.support.workers import FAKE_HARNESS

DEVICE = "CPU"


class Plan(Protocol):
    """A launcher that isn't built yet. Can be pickled, for another process to build it."""

    def build(self) -> Launcher:
        """The launcher, not started."""


@dataclass(frozen=True)
class LocalPlan:
    """See `Plan`."""

    folder: Path

    def build(self) -> LocalLauncher:
        return LocalLauncher(LocalSettings(self.folder / "jobs", {DEVICE: FAKE_HARNESS}))


@dataclass(frozen=True)
class SlurmPlan:
    """See `Plan`."""

    settings: SlurmSettings
    harness: Path

    def build(self) -> SlurmLauncher:
        return SlurmLauncher(self.settings, self.harness)


@dataclass(frozen=True)
class GithubPlan:
    """See `Plan`."""

    settings: GithubSettings
    links: LinksElsewhere

    def build(self) -> GithubLauncher:
        return GithubLauncher(self.settings, self.links)


@dataclass(frozen=True)
class BuildkitePlan:
    """See `Plan`."""

    settings: BuildkiteSettings

    def build(self) -> BuildkiteLauncher:
        return BuildkiteLauncher(self.settings, None)


@dataclass(frozen=True)
class KubernetesPlan:
    """See `Plan`."""

    settings: KubernetesSettings
    url: str
    token: str
    links: LinksElsewhere | None = None

    def build(self) -> KubernetesLauncher:
        credentials = ClusterCredentials(self.url, FixedToken(self.token))
        return KubernetesLauncher(self.settings, credentials, self.links)


@dataclass(frozen=True)
class ModalPlan:
    """See `Plan`."""

    account: FakeModal | RemoteModal
    warm_idle_s: float = 0.0

    def build(self) -> ModalLauncher:
        devices = {DEVICE: ModalDevice("judge_cpu")}
        settings = ModalSettings(devices, warm_idle_s=self.warm_idle_s)
        return ModalLauncher(settings, self.account.calls())


@dataclass(frozen=True)
class RayPlan:
    """See `Plan`."""

    settings: RaySettings
    harness: Path

    def build(self) -> RayLauncher:
        return RayLauncher(self.settings, self.harness)
