"""`kind = "ray"` in the configuration."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kernelbot.domain.values import from_fields
from kernelbot.launchers.ray import RayDevice, RayLauncher, RaySettings
from kernelbot.launchers.table import ConfigTable, LauncherPlace, RemoteTable
from kernelbot.protocol import SandboxMode, Vendor
from kernelbot.runs.devices.model import DeviceConfig

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_:.-]{0,99}$")]
Amount = Annotated[float, Field(gt=0, le=1024)]


class RayDeviceTable(ConfigTable):
    num_gpus: int | None = Field(default=None, ge=0, le=64)
    """None: one, or none for a CPU."""
    num_cpus: float = Field(default=1.0, ge=0, le=1024)
    resources: dict[Name, Amount] = Field(default_factory=dict)
    autoscaled: bool = False


class RayTable(RemoteTable):
    """`[launchers.NAME]` of a cluster that the worker's machine is part of."""

    title: ClassVar[str] = "Ray"

    kind: Literal["ray"]
    address: str = Field(pattern=r"^[A-Za-z0-9.-]{1,253}:[0-9]{1,5}$")
    namespace: Name = "kernelbot"
    python: str = "python3"
    timeout_s: float = Field(default=30.0, gt=0)
    start_s: float = Field(default=120.0, gt=0)
    slack_s: float = Field(default=120.0, ge=30)
    shortest_poll_s: float = Field(default=0.25, gt=0)
    longest_poll_s: float = Field(default=2.0, gt=0)
    check_s: float = Field(default=10.0, gt=0)
    devices: dict[str, RayDeviceTable] = Field(default_factory=dict)

    def build(self, place: LauncherPlace) -> RayLauncher:
        """Connects to nothing yet, and doesn't load Ray's package."""
        settings = self.settings(place)
        place.need_package("ray", "Ray")
        harness = place.build_harness(place.folder / "kernelbot-harness.pyz")
        return RayLauncher(settings, harness, place.links)

    def settings(self, place: LauncherPlace) -> RaySettings:
        place.refuse_strays(self.devices)
        return from_fields(
            RaySettings,
            self,
            devices={device.spec.name: self._device(device) for device in place.devices},
            no_sandbox_ok=place.sandbox is SandboxMode.NONE,
            traits=self.traits(),
        )

    def _device(self, device: DeviceConfig) -> RayDevice:
        table = self.devices.get(device.spec.name, RayDeviceTable())
        usual = 0 if device.spec.vendor is Vendor.CPU else 1
        gpus = usual if table.num_gpus is None else table.num_gpus
        return RayDevice(float(gpus), table.num_cpus, table.resources, table.autoscaled)
