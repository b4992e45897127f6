"""Devices and their launchers."""

from kernelbot.protocol.late import dataclass
from kernelbot.runs.devices.model import DeviceStatus


@dataclass(frozen=True)
class DeviceList:
    """Every configured device."""

    devices: list[DeviceStatus]
