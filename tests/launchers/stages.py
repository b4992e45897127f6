"""A stage for each launcher: the launcher with its scheduler, and what only a test may do to it.

To hold a further launcher to the contract, write a `Stage` for it and put it into `STAGES`.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from kernelbot.launchers.base import Launcher
from kernelbot.launchers.local import LocalLauncher, LocalSettings
from kernelbot.protocol import DeviceSpec, JobSpec, Mode, SourceFile, Vendor
from tests.support.problems import sort_problem
from tests.support.workers import FAKE_HARNESS

DEVICE = "CPU"
FILE_NAME = "a'; echo x\n$(id).py"


def a_job(text: str, job_id: str = "1.1.0123456789ab", device: str = DEVICE) -> JobSpec:
    """A job whose judge does what the text says, in the words of `tests.fakes.host`."""
    return JobSpec(
        job_id,
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

    def another(self) -> AbstractAsyncContextManager[Launcher]:
        """A launcher as another process has it: over the same scheduler, with no memory."""

    def judged(self) -> list[str]:
        """The ids of all jobs that were begun, each as often as it was."""

    async def left(self) -> list[str]:
        """What is kept of jobs anywhere, in words."""


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
    async def open(cls, folder: Path) -> AsyncIterator["LocalStage"]:
        """Gone at the end."""
        async with _local(folder) as launcher:
            yield cls(folder, launcher)

    def another(self) -> AbstractAsyncContextManager[Launcher]:
        return _local(self._folder)

    def judged(self) -> list[str]:
        log = self._folder / "jobs" / "judged.log"
        return log.read_text().split() if log.exists() else []

    async def left(self) -> list[str]:
        own = {"hosts", "judged.log"}
        return [path.name for path in (self._folder / "jobs").iterdir() if path.name not in own]


@contextlib.asynccontextmanager
async def _local(folder: Path) -> AsyncIterator[LocalLauncher]:
    launcher = LocalLauncher(LocalSettings(folder / "jobs", {DEVICE: FAKE_HARNESS}))
    await launcher.start()
    try:
        yield launcher
    finally:
        await launcher.close()


STAGES: dict[str, Callable[[Path], AbstractAsyncContextManager[Stage]]] = {
    "local": LocalStage.open,
}
