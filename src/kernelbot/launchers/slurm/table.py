"""`kind = "slurm"` in the configuration."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kernelbot.domain.values import from_fields
from kernelbot.launchers.slurm import SlurmDevice, SlurmLauncher, SlurmSettings
from kernelbot.launchers.table import ConfigTable, LauncherPlace, RemoteTable
from kernelbot.protocol import SandboxMode, Vendor
from kernelbot.runs.devices.model import DeviceConfig

Word = Annotated[str, Field(min_length=1, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""One word of a command."""
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:,*-]*$")]
"""The name of a partition, or of a GRES."""


class SlurmDeviceTable(ConfigTable):
    gres: Name | None = None
    """None: as many GPUs as the device has, of any type; none for a CPU."""
    partition: Name | None = None
    options: tuple[Word, ...] = ()
    reservation: Name | None = None

    def device(
        self, config: DeviceConfig, partition: str | None, reservation: str | None
    ) -> SlurmDevice:
        by_default = None if config.spec.vendor is Vendor.CPU else f"gpu:{config.gpus}"
        return SlurmDevice(
            self.gres or by_default,
            self.partition or partition,
            self.options,
            self.reservation or reservation,
        )


class SlurmTable(RemoteTable):
    """`[launchers.NAME]` of a Slurm cluster."""

    title: ClassVar[str] = "Slurm"

    kind: Literal["slurm"]
    work_dir: str = Field(pattern=r"^/[A-Za-z0-9_./@+-]*[A-Za-z0-9_@+-]$")
    """A folder of ours alone that login and compute nodes share."""
    prefix: tuple[Word, ...] = ()
    """What each command is put behind: `["ssh", "login01"]`."""
    partition: Name | None = None
    reservation: Name | None = None
    python: Word = "python3"
    setup: tuple[Word, ...] = ()
    """Lines of shell before the harness starts."""
    timeout_s: float = Field(default=20.0, gt=0)
    slack_s: float = Field(default=300.0, ge=60)
    settle_s: float = Field(default=60.0, ge=0)
    warm_idle_s: float = Field(default=0.0, ge=0)
    """How long a node waits for the next job; 0: each job has one of its own."""
    warm_limit_s: float = Field(default=3600.0, ge=60)
    shortest_poll_s: float = Field(default=0.25, gt=0)
    longest_poll_s: float = Field(default=10.0, gt=0)
    check_s: float = Field(default=10.0, gt=0)
    devices: dict[str, SlurmDeviceTable] = Field(default_factory=dict)

    def build(self, place: LauncherPlace) -> SlurmLauncher:
        """Writes the harness into the launcher's folder."""
        harness = place.build_harness(place.folder / "kernelbot-harness.pyz")
        return SlurmLauncher(self.settings(place), harness)

    def settings(self, place: LauncherPlace) -> SlurmSettings:
        place.refuse_strays(self.devices)
        if self.warm_idle_s and place.sandbox is SandboxMode.NONE:
            raise place.mistake("warm_idle_s", "without a sandbox each job needs a node of its own")
        plain = SlurmDeviceTable()
        return from_fields(
            SlurmSettings,
            self,
            devices={
                device.spec.name: self.devices.get(device.spec.name, plain).device(
                    device, self.partition, self.reservation
                )
                for device in place.devices
            },
            no_sandbox_ok=place.sandbox is SandboxMode.NONE,
            traits=self.traits(),
        )
