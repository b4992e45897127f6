"""`kind = "buildkite"` in the configuration."""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kernelbot.domain.values import from_fields
from kernelbot.launchers.base import Traits
from kernelbot.launchers.buildkite import QUEUE, BuildkiteLauncher, BuildkiteSettings
from kernelbot.launchers.buildkite.settings import STEP_TIMEOUT_S
from kernelbot.launchers.table import ConfigTable, LauncherPlace, RemoteTable
from kernelbot.protocol import SandboxMode

Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,99}$")]
Branch = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_./-]{0,250}$")]
UploadQueue = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
Queue = Annotated[str, Field(pattern=f"^{QUEUE}$")]
_VARIABLE = "BUILDKITE_API_TOKEN"
_ROOM_S = 3600.0


class BuildkiteDeviceTable(ConfigTable):
    queues: tuple[Queue, ...] = Field(min_length=1)
    """One for each GPU."""


class BuildkiteTable(RemoteTable):
    """`[launchers.NAME]` of a pipeline whose agents have a GPU each."""

    title: ClassVar[str] = "Buildkite"
    variables: ClassVar[tuple[str, ...]] = (_VARIABLE,)

    kind: Literal["buildkite"]
    organization: Slug
    pipeline: Slug
    upload_queue: UploadQueue | None = None
    branch: Branch = "main"
    api_url: str = Field(default="https://api.buildkite.com", pattern=r"^https?://[^\s?#]+$")
    timeout_s: float = Field(default=20.0, gt=0)
    step_timeout_s: float = Field(default=STEP_TIMEOUT_S, ge=60)
    slack_s: float = Field(default=120.0, ge=30)
    settle_s: float = Field(default=30.0, ge=0)
    warm_idle_s: float = Field(default=0.0, ge=0, le=86400)
    """How long a container waits for its agent's next job; 0: each job has its own."""
    warm_limit_s: float = Field(default=3600.0, ge=60, le=86400)
    devices: dict[str, BuildkiteDeviceTable]

    def build(self, place: LauncherPlace) -> BuildkiteLauncher:
        return BuildkiteLauncher(self.settings(place), place.links)

    def settings(self, place: LauncherPlace) -> BuildkiteSettings:
        place.refuse_strays(self.devices)
        names = [device.spec.name for device in place.devices]
        if without := next((name for name in names if name not in self.devices), None):
            raise place.mistake(f"devices.{without}.queues", "is missing")
        if self.warm_idle_s and place.sandbox is SandboxMode.NONE:
            raise place.mistake("warm_idle_s", "without a sandbox each job needs its own container")
        return from_fields(
            BuildkiteSettings,
            self,
            token=place.token(_VARIABLE),
            queues={name: self.devices[name].queues for name in names},
            traits=self._traits(),
        )

    def _traits(self) -> Traits:
        """A build runs from its first step on, and the one that judges may wait as long as any."""
        return replace(self.traits(), room_s=_ROOM_S + self.wait_s, late_s=self.settle_s)
