"""A stage for each launcher: the launcher with its scheduler, and what only a test may do to it.

To hold a further launcher to the contract, write a `Stage` for it and put it into `STAGES`.
"""

import contextlib
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
from scripts.slurm_cluster import SlurmCluster

from kernelbot.launchers.base import Launcher, Traits
from kernelbot.launchers.buildkite import BuildkiteLauncher, BuildkiteSettings
from kernelbot.launchers.github import GithubDevice, GithubLauncher, GithubSettings
from kernelbot.launchers.local import LocalLauncher
from kernelbot.launchers.modal import ModalLauncher
from kernelbot.launchers.slurm import SlurmDevice, SlurmLauncher, SlurmSettings
from kernelbot.protocol import DeviceSpec, JobSpec, Mode, SourceFile, Vendor
from tests.fakes import buildkite as fake
from tests.fakes.buildkite import FakeBuildkite, fake_buildkite
from tests.fakes.github import REPO, TOKEN, FakeGithub, fake_github
from tests.fakes.links import FakeLinks, fake_links
from tests.fakes.modal import FakeModal, RemoteModal, served_modal
from tests.launchers.plans import (
    DEVICE,
    BuildkitePlan,
    GithubPlan,
    LocalPlan,
    ModalPlan,
    Plan,
    SlurmPlan,
)
from tests.support.fake_node import build_fake_node
from tests.support.problems import sort_problem

SomeLauncher = TypeVar("SomeLauncher", bound=Launcher)
MANY = 100_000
UNHEARD_OF = "EXPEDITING"
"""No state of a job's that any of our launchers knows by name."""
FILE_NAME = "a'; echo x\n$(id).py"


def a_job(text: str, device: str = DEVICE) -> JobSpec:
    """A job whose judge does what the text says, in the words of `tests.fakes.host`. Its id is its
    own, as schedulers remember those of other tests."""
    return JobSpec(
        f"1.1.{secrets.token_hex(6)}",
        sort_problem().spec,
        SourceFile(FILE_NAME, f"# fake: {text}\n"),
        Mode.TEST,
        DeviceSpec(device, Vendor.CPU),
    )


class Stage(Protocol):
    """One launcher, started, whose only device is `DEVICE`. Its jobs are judged by a fake that does
    what `tests.fakes.host` says of: VERDICT, `sleep S VERDICT`, `die`, `garbage`."""

    @property
    def launcher(self) -> Launcher:
        """Started, and closed when the stage is."""

    @property
    def unknown_handle(self) -> str:
        """One that this launcher could have made."""

    @property
    def plan(self) -> Plan:
        """Of a launcher as another process has it: over the same scheduler, with no memory."""

    def judged(self) -> list[str]:
        """The ids of all jobs that were begun, each as often as it was."""

    def confuse(self, handle: str) -> None:
        """From now on the scheduler says of the job, which goes on, that its state is one of which
        nobody has heard."""

    async def left(self) -> list[str]:
        """What is kept of jobs anywhere, in words."""


@contextlib.asynccontextmanager
async def started(launcher: SomeLauncher) -> AsyncIterator[SomeLauncher]:
    """The launcher, started; closed at the end."""
    await launcher.start()
    try:
        yield launcher
    finally:
        await launcher.close()


class LocalStage:
    """See `Stage`."""

    def __init__(self, folder: Path, launcher: LocalLauncher) -> None:
        self._launcher = launcher
        self._folder = folder

    @property
    def launcher(self) -> Launcher:
        return self._launcher

    @property
    def unknown_handle(self) -> str:
        return str(self._folder / "jobs" / "999.1.0123456789ab")

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, folder: Path, _request: pytest.FixtureRequest
    ) -> AsyncIterator["LocalStage"]:
        """Gone at the end."""
        async with started(LocalPlan(folder).build()) as launcher:
            yield cls(folder, launcher)

    @property
    def plan(self) -> Plan:
        return LocalPlan(self._folder)

    def judged(self) -> list[str]:
        log = self._folder / "jobs" / "judged.log"
        return log.read_text().split() if log.exists() else []

    def confuse(self, handle: str) -> None:
        """A host tells no states."""

    async def left(self) -> list[str]:
        own = {"hosts", "judged.log"}
        return [path.name for path in (self._folder / "jobs").iterdir() if path.name not in own]


class SlurmStage:
    """See `Stage`."""

    def __init__(self, work: Path, launcher: SlurmLauncher) -> None:
        self._launcher = launcher
        self._work = work

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, folder: Path, request: pytest.FixtureRequest
    ) -> AsyncIterator["SlurmStage"]:
        """On the session's cluster."""
        async with cls.on(folder, request.getfixturevalue("slurm")) as stage:
            yield stage

    @classmethod
    @contextlib.asynccontextmanager
    async def on(cls, folder: Path, slurm: SlurmCluster) -> AsyncIterator["SlurmStage"]:
        """In a folder of its own."""
        harness = build_fake_node(folder / "node.pyz")
        work = folder / "work"
        with slurm.reached():
            async with slurm_launcher(cls._settings(work), harness) as launcher:
                yield cls(work, launcher)
            slurm.cancel_all()

    @staticmethod
    def _settings(work: Path) -> SlurmSettings:
        return slurm_settings(work)

    @property
    def launcher(self) -> Launcher:
        return self._launcher

    @property
    def unknown_handle(self) -> str:
        return "999999:999.1.0123456789ab"

    @property
    def plan(self) -> Plan:
        return SlurmPlan(self._settings(self._work), self._work.parent / "node.pyz")

    def judged(self) -> list[str]:
        log = self._work / "jobs" / "judged.log"
        return log.read_text().split() if log.exists() else []

    def confuse(self, handle: str) -> None:
        number = self._number(handle)
        told = (
            f"s/^{number}|[A-Z]*/{number}|{UNHEARD_OF}/; s/JobState=[A-Z]*/JobState={UNHEARD_OF}/"
        )
        program = self._work.parent / "confused"
        program.write_text(
            "#!/bin/bash\ncase $1 in squeue|scontrol)\n"
            f'    set -o pipefail; "$@" | sed \'{told}\';;\n*) exec "$@";; esac\n'
        )
        program.chmod(0o755)
        self._launcher._commands._prefix = (str(program),)

    def _number(self, handle: str) -> str:
        """Slurm's, of the job that the handle is of."""
        return handle.partition(":")[0]

    async def left(self) -> list[str]:
        names = ("jobs", "done", "payloads", "waiting", "cancels")
        folders = [self._work / name for name in names]
        found = [path.name for folder in folders for path in folder.iterdir()]
        return [name for name in found if name != "judged.log" and not name.startswith(".look")]


class WarmSlurmStage(SlurmStage):
    """See `Stage`: its nodes judge jobs in turn."""

    @property
    def unknown_handle(self) -> str:
        return "0:999.1.0123456789ab"

    @staticmethod
    def _settings(work: Path) -> SlurmSettings:
        return slurm_settings(work, warm_idle_s=600.0)

    def _number(self, handle: str) -> str:
        attempt = handle.partition(":")[2]
        mark = next((self._work / "jobs" / attempt).glob("node.*"))
        return mark.name.removeprefix("node.")


def slurm_settings(work: Path, **changes: Any) -> SlurmSettings:
    """A launcher that is quick, with a device without GPUs and one with one, and one that the
    cluster can't have."""
    given: dict[str, Any] = {
        "devices": {
            DEVICE: SlurmDevice(None),
            "H100": SlurmDevice("gpu:h100:1"),
            "B200": SlurmDevice("gpu:b200:1"),
        },
        "python": sys.executable,
        "settle_s": 1.0,
        "timeout_s": 30.0,
        "traits": Traits(shortest_poll_s=0.1, longest_poll_s=0.5, check_s=1, silence_s=60),
    }
    return SlurmSettings(work_dir=str(work), **{**given, **changes})


def slurm_launcher(
    settings: SlurmSettings, harness: Path
) -> AbstractAsyncContextManager[SlurmLauncher]:
    """See `started`."""
    return started(SlurmLauncher(settings, harness))


class GithubStage:
    """See `Stage`."""

    def __init__(self, github: FakeGithub, links: FakeLinks, launcher: GithubLauncher) -> None:
        self._launcher = launcher
        self._github = github
        self._links = links

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, folder: Path, _request: pytest.FixtureRequest
    ) -> AsyncIterator["GithubStage"]:
        """A repository of its own."""
        harness = build_fake_node(folder / "node.pyz")
        with fake_github(folder / "runners") as github, fake_links(harness) as links:
            async with github_launcher(github_settings(github), links) as launcher:
                yield cls(github, links, launcher)
            assert github.storage.leaked == []

    @property
    def launcher(self) -> Launcher:
        return self._launcher

    @property
    def unknown_handle(self) -> str:
        return "999999:999.1.0123456789ab"

    @property
    def plan(self) -> Plan:
        return GithubPlan(github_settings(self._github), self._links.elsewhere())

    def judged(self) -> list[str]:
        return self._github.actions.judged()

    def confuse(self, handle: str) -> None:
        run = self._github.actions.runs[int(handle.partition(":")[0])]
        run.told_status = UNHEARD_OF.lower()

    async def left(self) -> list[str]:
        return [run.title for run in self._github.actions.runs.values()]


def github_settings(github: FakeGithub, **changes: Any) -> GithubSettings:
    """A launcher that is quick, with a device that the fake's runners have."""
    workflow = "kernelbot-nvidia.yml"
    given: dict[str, Any] = {
        "repo": REPO,
        "tokens": (TOKEN,),
        "devices": {DEVICE: GithubDevice(github.actions.label, workflow)},
        "api_url": github.url,
        "settle_s": 0.5,
        "appear_s": 0.5,
        "timeout_s": 20.0,
        "traits": Traits(shortest_poll_s=0.05, longest_poll_s=0.2, check_s=1, silence_s=60),
    }
    return GithubSettings(**{**given, **changes})


def github_launcher(
    settings: GithubSettings, links: FakeLinks | None
) -> AbstractAsyncContextManager[GithubLauncher]:
    """See `started`."""
    return started(GithubLauncher(settings, links))


class BuildkiteStage:
    """See `Stage`."""

    def __init__(self, buildkite: FakeBuildkite, launcher: BuildkiteLauncher) -> None:
        self._launcher = launcher
        self._buildkite = buildkite

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, folder: Path, _request: pytest.FixtureRequest
    ) -> AsyncIterator["BuildkiteStage"]:
        """An organization of its own."""
        if os.geteuid() != 0:
            pytest.skip("an ordinary user can't make a /dev for the agents")
        harness = build_fake_node(folder / "node.pyz")
        with fake_buildkite(folder / "agents", harness) as buildkite:
            buildkite.limits.raise_to(MANY)  # tests ask more often than a worker does
            async with buildkite_launcher(buildkite_settings(buildkite), None) as launcher:
                yield cls(buildkite, launcher)
            assert buildkite.storage.leaked == []

    @property
    def launcher(self) -> Launcher:
        return self._launcher

    @property
    def unknown_handle(self) -> str:
        return "999999:999.1.0123456789ab"

    @property
    def plan(self) -> Plan:
        return BuildkitePlan(buildkite_settings(self._buildkite))

    def judged(self) -> list[str]:
        return self._buildkite.agents.judged()

    def confuse(self, handle: str) -> None:
        build = self._buildkite.agents.builds[int(handle.partition(":")[0])]
        build.told_state = UNHEARD_OF.lower()

    async def left(self) -> list[str]:
        return [file.path for build in self._buildkite.builds for file in build.artifacts]


def buildkite_settings(buildkite: FakeBuildkite, **changes: Any) -> BuildkiteSettings:
    """A launcher that is quick, with a device whose queues the fake's agents listen to."""
    given: dict[str, Any] = {
        "organization": fake.ORGANIZATION,
        "pipeline": fake.PIPELINE,
        "token": fake.TOKEN,
        "queues": {DEVICE: buildkite.agents.queues},
        "upload_queue": buildkite.agents.uploads,
        "api_url": buildkite.url,
        "settle_s": 0.5,
        "appear_s": 0.5,
        "traits": Traits(shortest_poll_s=0.05, longest_poll_s=0.2, check_s=1, silence_s=60),
    }
    return BuildkiteSettings(**{**given, **changes})


def buildkite_launcher(
    settings: BuildkiteSettings, links: FakeLinks | None
) -> AbstractAsyncContextManager[BuildkiteLauncher]:
    """See `started`."""
    return started(BuildkiteLauncher(settings, links))


class ModalStage:
    """See `Stage`."""

    def __init__(self, service: FakeModal, remote: RemoteModal, launcher: ModalLauncher) -> None:
        self._launcher = launcher
        self._service = service
        self._remote = remote

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, folder: Path, _request: pytest.FixtureRequest
    ) -> AsyncIterator["ModalStage"]:
        """An account of its own."""
        service = FakeModal(folder / "containers", build_fake_node(folder / "node.pyz"))
        try:
            with served_modal(service) as url:
                remote = RemoteModal(url)
                async with modal_launcher(remote) as launcher:
                    yield cls(service, remote, launcher)
        finally:
            service.close()

    @property
    def launcher(self) -> Launcher:
        return self._launcher

    @property
    def unknown_handle(self) -> str:
        return "fc-01UNKNOWN:999.1.0123456789ab"

    @property
    def plan(self) -> Plan:
        return ModalPlan(self._remote)

    def judged(self) -> list[str]:
        log = self._service.folder / "judged.log"
        return log.read_text().split() if log.exists() else []

    def confuse(self, handle: str) -> None:
        call, _, attempt = handle.partition(":")
        self._service.dict.content[attempt] = f"{call} {UNHEARD_OF.lower()}"

    async def left(self) -> list[str]:
        return list(self._service.dict.content)


def modal_launcher(
    account: FakeModal | RemoteModal, warm_idle_s: float = 0.0
) -> AbstractAsyncContextManager[ModalLauncher]:
    """See `started`."""
    return started(ModalPlan(account, warm_idle_s).build())


def _kubernetes(folder: Path, request: pytest.FixtureRequest) -> AbstractAsyncContextManager[Stage]:
    from tests.launchers.kubernetes.places import KubernetesStage  # which imports from here

    return KubernetesStage.open(folder, request)


def _ray(folder: Path, request: pytest.FixtureRequest) -> AbstractAsyncContextManager[Stage]:
    from tests.launchers.ray.places import RayStage  # which imports from here

    return RayStage.open(folder, request)


Opener = Callable[[Path, pytest.FixtureRequest], AbstractAsyncContextManager[Stage]]
STAGES: dict[str, Opener] = {
    "buildkite": BuildkiteStage.open,
    "kubernetes": _kubernetes,
    "local": LocalStage.open,
    "modal": ModalStage.open,
    "ray": _ray,
    "slurm": SlurmStage.open,
    "slurm, warm": WarmSlurmStage.open,
    "github": GithubStage.open,
}
