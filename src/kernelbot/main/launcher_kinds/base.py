"""What the tables of all kinds of launchers have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from kernelbot.domain.types import DeviceConfig
from kernelbot.launchers.base import Launcher
from kernelbot.launchers.links import Links
from kernelbot.protocol import SandboxMode


@dataclass(frozen=True)
class LauncherPlace:
    """What a launcher is told beside its own table."""

    name: str
    devices: tuple[DeviceConfig, ...]
    """Those that name it."""
    folder: Path
    """Its own on this machine; made by whoever uses it."""
    sandbox: SandboxMode
    links: Links | None = None
    """None: nodes can't reach this platform, as no `public_url` is configured."""


class LauncherTable(BaseModel, ABC):
    """One `[launchers.NAME]`."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    kind: str

    @abstractmethod
    def build(self, place: LauncherPlace) -> Launcher:
        """The launcher, not started. Raises `UserError` if table and devices don't fit."""
