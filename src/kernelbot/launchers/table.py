"""What a scheduler's adapter is to the configuration: a `[launchers.NAME]` table of its kind, which
builds the launcher. A kind is an entry point of the group `kernelbot.launchers` (`kinds.py`)."""

import importlib.util
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from kernelbot.domain.errors import UserError
from kernelbot.domain.values import from_fields
from kernelbot.launchers.base import Launcher, Traits
from kernelbot.launchers.links import Links
from kernelbot.platform.distribution import checkout_command
from kernelbot.protocol import SandboxMode
from kernelbot.runs.devices.model import DeviceConfig

_TOKEN = re.compile(r"[!-~]+")


@dataclass(frozen=True)
class LauncherPlace:
    """What a launcher is told beside its own table."""

    name: str
    devices: tuple[DeviceConfig, ...]
    """Those that name it."""
    folder: Path
    """Its own on this machine; made by whoever uses it."""
    sandbox: SandboxMode
    build_harness: Callable[[Path], Path]
    """Writes the harness, a zipapp, to a path, whose folders it makes; returns the path."""
    links: Links | None = None
    """None: nodes can't reach this platform, as no `public_url` is configured."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the environment and `.env` say under the names in the table's `variables`; what isn't
    set is missing."""

    def token(self, variable: str) -> str:
        """The token in a variable. Raises `UserError` if there is none."""
        token = self.environment.get(variable, "")
        if not _TOKEN.fullmatch(token):
            what = "is no token: it has blanks or strange characters" if token else "is not set"
            raise UserError(
                f"{variable} {what}, and launcher {self.name!r} needs it.",
                hint="Set it in the environment or in .env; kernelbot.toml is no place for tokens.",
            )
        return token

    def need_package(self, module: str, whose: str) -> None:
        """An extra's package must be installed, which isn't loaded here. Raises `UserError`."""
        if importlib.util.find_spec(module) is None:
            raise UserError(
                f"The launcher {self.name!r} needs {whose}'s package, which isn't installed.",
                hint=f"Install the extra: {checkout_command(module)}.",
            )

    def refuse_strays(self, named: Iterable[str]) -> None:
        """Devices that the table names must be ours. Raises `UserError`."""
        names = {device.spec.name for device in self.devices}
        if stray := sorted(set(named) - names):
            raise self.mistake(f"devices.{stray[0]}", "no device of this name uses this launcher")

    def mistake(self, key: str, sentence: str) -> UserError:
        """To be raised for a key of the table."""
        return UserError(
            f"The configuration has mistakes: launchers.{self.name}.{key}: {sentence}",
            hint="See kernelbot.toml.",
        )


class ConfigTable(BaseModel):
    """A table of `kernelbot.toml`. Unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class LauncherTable(ConfigTable, ABC):
    title: ClassVar[str]
    """Where its jobs run, for people: behind "by"."""
    variables: ClassVar[tuple[str, ...]] = ()
    """The variables of the environment that it reads, e.g. for tokens, which aren't in the file."""

    kind: str

    @abstractmethod
    def build(self, place: LauncherPlace) -> Launcher:
        """The launcher, not started. Raises `UserError` if table and devices don't fit."""


class RemoteTable(LauncherTable):
    """The table of a scheduler that is asked again and again."""

    silence_s: float = Field(default=900.0, gt=0)
    wait_s: float = Field(default=86_400.0, ge=60)
    """How long a job may wait at the scheduler."""
    shortest_poll_s: float = Field(default=0.5, gt=0)
    longest_poll_s: float = Field(default=2.0, gt=0)
    check_s: float = Field(default=15.0, gt=0)

    def traits(self) -> Traits:
        """The devices as launchers know them."""
        longest_s = max(self.longest_poll_s, self.shortest_poll_s)
        return from_fields(Traits, self, longest_poll_s=longest_s)
