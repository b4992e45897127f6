"""`kind = "kubernetes"` in the configuration."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from kernelbot.domain.values import from_fields
from kernelbot.launchers.kubernetes import (
    KubernetesDevice,
    KubernetesLauncher,
    KubernetesSettings,
    Security,
    Toleration,
)
from kernelbot.launchers.kubernetes.credentials import HOST, KUBECONFIG, PORT, find_credentials
from kernelbot.launchers.kubernetes.room import quantity
from kernelbot.launchers.kubernetes.settings import Effect, Operator
from kernelbot.launchers.table import ConfigTable, LauncherPlace, RemoteTable
from kernelbot.protocol import Vendor
from kernelbot.runs.devices.model import DeviceConfig

_DAY_S = 86_400.0


def _quantity(text: str) -> str:
    if not quantity(text):
        raise ValueError("must be an amount as Kubernetes writes it, such as 4, 500m or 16Gi")
    return text


Label = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
Key = Annotated[
    str,
    Field(
        pattern=r"^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"
    ),
]
"""The key of a label, a taint or a resource."""
Value = Annotated[str, Field(pattern=r"^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$")]
Image = Annotated[str, Field(pattern=r"^[a-z0-9][A-Za-z0-9._/:@-]{0,500}$")]
Amount = Annotated[str, AfterValidator(_quantity)]
_RESOURCES = {Vendor.NVIDIA: "nvidia.com/gpu", Vendor.AMD: "amd.com/gpu"}


class TolerationTable(ConfigTable):
    key: Key | None = None
    operator: Operator = Operator.EQUAL
    value: Value = ""
    effect: Effect | None = None

    def toleration(self) -> Toleration:
        return Toleration(self.key or "", self.operator, self.value, self.effect)


class KubernetesDeviceTable(ConfigTable):
    image: Image | None = None
    resource: Key | None = None
    """None: the vendor's own; a CPU has none."""
    count: int = Field(default=1, ge=1, le=64)
    cpu: Amount = "4"
    memory: Amount = "16Gi"
    shared_memory: Amount = "8Gi"
    node_selector: dict[Key, Value] = Field(default_factory=dict)
    tolerations: tuple[TolerationTable, ...] = ()
    runtime_class: Name | None = None
    queue: Name | None = None
    autoscaled: bool = False


class KubernetesTable(RemoteTable):
    """`[launchers.NAME]` of a namespace."""

    title: ClassVar[str] = "Kubernetes"
    variables: ClassVar[tuple[str, ...]] = (KUBECONFIG, HOST, PORT)

    kind: Literal["kubernetes"]
    namespace: Label
    kubeconfig: Path | None = None
    context: str | None = None
    image: Image | None = None
    image_pull_secrets: tuple[Name, ...] = ()
    service_account: Name | None = None
    priority_class: Name | None = None
    queue: Name | None = None
    """The queue of all devices that name none."""
    security: Security = Security.CAPABILITIES
    timeout_s: float = Field(default=20.0, gt=0)
    slack_s: float = Field(default=600.0, ge=30)
    wait_s: float = Field(default=_DAY_S, ge=60, le=_DAY_S)
    """The links to a job are valid for a day."""
    ttl_s: float = Field(default=_DAY_S, ge=600)
    image_s: float = Field(default=300.0, gt=0)
    settle_s: float = Field(default=10.0, ge=0)
    stuck_s: float = Field(default=60.0, gt=0)
    watch_s: float = Field(default=30.0, ge=1, le=300)
    shortest_poll_s: float = Field(default=0.1, gt=0)
    longest_poll_s: float = Field(default=1.0, gt=0)
    devices: dict[str, KubernetesDeviceTable] = Field(default_factory=dict)

    def build(self, place: LauncherPlace) -> KubernetesLauncher:
        """Asks the cluster for nothing yet."""
        settings = self.settings(place)
        credentials = find_credentials(place.environment, self.kubeconfig, self.context)
        return KubernetesLauncher(settings, credentials, place.links)

    def settings(self, place: LauncherPlace) -> KubernetesSettings:
        place.refuse_strays(self.devices)
        devices = {device.spec.name: self._device(place, device) for device in place.devices}
        return from_fields(KubernetesSettings, self, devices=devices, traits=self.traits())

    def _device(self, place: LauncherPlace, device: DeviceConfig) -> KubernetesDevice:
        name = device.spec.name
        table = self.devices.get(name, KubernetesDeviceTable())
        image = table.image or self.image
        if image is None:
            raise place.mistake(
                f"devices.{name}.image", "is missing: neither it nor the launcher's names one"
            )
        return from_fields(
            KubernetesDevice,
            table,
            resource=table.resource or _RESOURCES.get(device.spec.vendor),
            image=image,
            tolerations=tuple(one.toleration() for one in table.tolerations),
            queue=table.queue or self.queue,
        )
