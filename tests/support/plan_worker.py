"""A worker in a process of its own, whose launcher is that of a pickled plan; it can be killed.

    python -m tests.support.plan_worker DATABASE FOLDER SLOTS

in a folder with the file `plan`; it ends when its standard input does.
"""

import asyncio
import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import ConfigDict

from kernelbot.launchers.base import Launcher
from kernelbot.launchers.table import LauncherPlace, LauncherTable
from kernelbot.server.logs import set_up_logs
from kernelbot.server.settings import Settings
from kernelbot.server.tables import DeviceSettings
from kernelbot.server.work import work
from tests.launchers.plans import DEVICE, Plan
from tests.support.workers import ROOT, quick_settings


class PlannedTable(LauncherTable):
    """A `[launchers.NAME]` that is built by a plan."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    kind: str = "planned"
    file: Path

    def build(self, place: LauncherPlace) -> Launcher:
        del place
        plan: Plan = pickle.loads(self.file.read_bytes())
        return plan.build()


def planned_settings(folder: Path, slots: int) -> Settings:
    """With the one device that plans have."""
    device = DeviceSettings(name=DEVICE, launcher=("planned",), slots=slots)
    tables = {"planned": PlannedTable(file=folder / "plan")}
    return quick_settings(folder).model_copy(update={"devices": (device,), "launchers": tables})


class PlanWorker:
    """The process."""

    def __init__(self, url: str, folder: Path, slots: int) -> None:
        paths = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
        command = [sys.executable, "-m", "tests.support.plan_worker", url, str(folder), str(slots)]
        with (folder / "worker.log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **paths},
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """It hands over, and ends."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextlib.contextmanager
def plan_worker(plan: Plan, url: str, folder: Path, slots: int) -> Iterator[PlanWorker]:
    """Gone afterwards. `folder`: the worker's own, the same for all that follow each other."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan").write_bytes(pickle.dumps(plan))
    worker = PlanWorker(url, folder, slots)
    try:
        yield worker
    finally:
        worker.close()


def main() -> None:
    """The worker itself."""
    url, folder, slots = sys.argv[1:]
    set_up_logs()
    settings = planned_settings(Path(folder), int(slots))
    asyncio.run(work(settings, url, parent=sys.stdin.fileno()))


if __name__ == "__main__":
    main()
