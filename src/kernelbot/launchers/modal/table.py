"""`kind = "modal"` in the configuration."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kernelbot.domain.values import from_fields
from kernelbot.launchers.modal import ModalDevice, ModalLauncher, ModalSettings
from kernelbot.launchers.modal.settings import FUNCTION_TIMEOUT_S
from kernelbot.launchers.table import ConfigTable, LauncherPlace, RemoteTable
from kernelbot.protocol import SandboxMode

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$")]
"""The name of an app, an environment or a function."""


class ModalDeviceTable(ConfigTable):
    function: Name


class ModalTable(RemoteTable):
    """`[launchers.NAME]` of an app on Modal. The account's token comes from the environment or from
    `~/.modal.toml`, as Modal's own tools have it."""

    title: ClassVar[str] = "Modal"

    kind: Literal["modal"]
    app: Name = "kernelbot"
    environment: Name | None = None
    timeout_s: float = Field(default=20.0, gt=0)
    function_timeout_s: float = Field(default=FUNCTION_TIMEOUT_S, ge=60)
    slack_s: float = Field(default=120.0, ge=30)
    warm_idle_s: float = Field(default=0.0, ge=0, le=3600)
    """How long the harness's host in a container waits for the next job; 0: each has its own."""
    warm_limit_s: float = Field(default=3600.0, ge=60)
    shortest_poll_s: float = Field(default=0.25, gt=0)
    longest_poll_s: float = Field(default=5.0, gt=0)
    check_s: float = Field(default=10.0, gt=0)
    devices: dict[str, ModalDeviceTable] = Field(default_factory=dict)

    def build(self, place: LauncherPlace) -> ModalLauncher:
        """Asks Modal for nothing yet."""
        settings = self.settings(place)
        place.need_package("modal", "Modal")
        from kernelbot.launchers.modal.package import PackageCalls

        calls = PackageCalls(self.app, self.environment, timeout_s=self.timeout_s)
        return ModalLauncher(settings, calls, place.links)

    def settings(self, place: LauncherPlace) -> ModalSettings:
        names = [device.spec.name for device in place.devices]
        place.refuse_strays(self.devices)
        if self.warm_idle_s and place.sandbox is SandboxMode.NONE:
            raise place.mistake("warm_idle_s", "without a sandbox each job needs a host of its own")
        return from_fields(
            ModalSettings,
            self,
            devices={name: ModalDevice(self._function(name)) for name in names},
            no_sandbox_ok=place.sandbox is SandboxMode.NONE,
            traits=self.traits(),
        )

    def _function(self, device: str) -> str:
        """`judge_l4x4` for L4x4, unless it is configured."""
        table = self.devices.get(device)
        return table.function if table else f"judge_{re.sub(r'[^a-z0-9]', '_', device.lower())}"
