"""Devices, and whether the server works."""

from pydantic import Field

from kernelbot.domain.types import Readiness
from kernelbot.schemas.common import Answer, Shown


class DeviceView(Shown):
    """A configured device and how busy it is."""

    name: str
    vendor: str
    launcher: str
    queued: int
    running: int
    available: bool
    note: str = Field(description="Why it isn't available; empty when it is.")


class DeviceList(Answer):
    """Every configured device."""

    devices: list[DeviceView]


class HealthView(Answer):
    """The process answers."""

    status: str
    version: str


class PartView(Shown):
    """One part the server needs."""

    name: str
    ok: bool
    note: str


class ReadyView(Answer):
    """Whether requests are answered and submissions taken, and whether these are judged."""

    ready: bool
    judging: bool = Field(description="Whether workers and devices are there as well.")
    parts: list[PartView]

    @classmethod
    def of(cls, readiness: Readiness) -> "ReadyView":
        """The domain's readiness."""
        parts = [PartView.of(part) for part in (*readiness.parts, *readiness.judging_parts)]
        return cls(ready=readiness.ok, judging=readiness.judges, parts=parts)
