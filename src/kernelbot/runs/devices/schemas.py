"""Devices and their launchers."""

from dataclasses import dataclass

from kernelbot.runs.devices.model import DeviceStatus


@dataclass(frozen=True)
class DeviceList:
    """Every configured device."""

    devices: list[DeviceStatus]
