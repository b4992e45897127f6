"""Who compiles a GPU's submissions before they take it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kernelbot.protocol import Vendor
from kernelbot.runs.devices.model import DeviceConfig


@dataclass(frozen=True)
class IdlePreflights:
    """Devices whose submissions are compiled in the idle time of `builder`, a CPU, for a report
    alone. None: there is nobody who could."""

    devices: tuple[DeviceConfig, ...]
    builder: DeviceConfig | None


def idle_preflights(devices: Sequence[DeviceConfig], here: Collection[str]) -> IdlePreflights:
    """GPUs without a builder of their own that want reports, and the first CPU that a launcher of
    `here` reaches. Those are on this machine: elsewhere idle time is somebody else's."""
    wanting = tuple(
        device
        for device in devices
        if device.spec.vendor is not Vendor.CPU and device.builds_on is None and device.preflight
    )
    builders = (
        device
        for device in devices
        if device.spec.vendor is Vendor.CPU
        and device.builds_on is None
        and set(device.launchers) & set(here)
    )
    return IdlePreflights(wanting, next(builders, None))
