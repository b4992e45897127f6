"""Devices and their launchers."""

from kernelbot.runs.devices.model import DeviceStatus
from kernelbot.schemas.common import Answer


class DeviceList(Answer):
    """Every configured device."""

    devices: list[DeviceStatus]
