"""Devices and how busy they are."""

from kernelbot.domain.types import DeviceStatus


class Devices:
    """Configured devices, joined with what the workers last said of them."""

    async def list(self) -> list[DeviceStatus]:
        """Every configured device in the configuration's order."""
        raise NotImplementedError
