"""Devices, and whether the server is well."""

from pydantic import Field

from kernelbot.domain.types import DeviceStatus, Readiness
from kernelbot.schemas.common import Answer


class DeviceView(Answer):
    """A configured device and how busy it is."""

    name: str
    vendor: str
    launcher: str
    queued: int
    running: int
    available: bool
    note: str = Field(description="Why it isn't available; empty when it is.")

    @classmethod
    def of(cls, device: DeviceStatus) -> "DeviceView":
        """The domain's device."""
        return cls(
            name=device.name,
            vendor=device.vendor,
            launcher=device.launcher,
            queued=device.queued,
            running=device.running,
            available=device.available,
            note=device.note,
        )


class DeviceList(Answer):
    """Every configured device."""

    devices: list[DeviceView]


class HealthView(Answer):
    """The process answers."""

    status: str
    version: str


class PartView(Answer):
    """One part the server needs."""

    name: str
    ok: bool
    note: str


class ReadyView(Answer):
    """Whether submissions can be taken and judged."""

    ready: bool
    parts: list[PartView]

    @classmethod
    def of(cls, readiness: Readiness) -> "ReadyView":
        """The domain's readiness."""
        parts = [PartView(name=p.name, ok=p.ok, note=p.note) for p in readiness.parts]
        return cls(ready=readiness.ok, parts=parts)
