"""Launchers of tests' own in a worker's settings."""

from typing import Any

from pydantic import ConfigDict

from kernelbot.launchers.base import Launcher
from kernelbot.launchers.table import LauncherPlace, LauncherTable
from tests.fakes.scheduler import FakeLauncher, FakeScheduler


class FakeTable(LauncherTable):
    """A `[launchers.NAME]` whose scheduler lies in memory."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    kind: str = "fake"
    scheduler: Any

    def build(self, place: LauncherPlace) -> Launcher:
        assert isinstance(self.scheduler, FakeScheduler)
        return FakeLauncher(self.scheduler, place.name)
