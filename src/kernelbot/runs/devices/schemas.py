"""Devices and their launchers."""

from pydantic import Field

from kernelbot.schemas.common import Answer, Shown


class LauncherHealthView(Shown):
    """Whether a device can be reached by one of its launchers."""

    launcher: str
    available: bool
    note: str = Field(description="Why it isn't available; empty when it is.")


class DeviceView(Shown):
    """A configured device and how busy it is."""

    name: str
    vendor: str
    launcher: str = Field(description="The one that would take the next run.")
    launchers: list[LauncherHealthView] = Field(description="The preferred first.")
    gpus: int = Field(description="How many GPUs a run gets; 0: it is a CPU.")
    memory_bytes: int | None = Field(description="Of one GPU; null: not configured.")
    queued: int
    running: int
    available: bool
    note: str = Field(description="Why it isn't available; empty when it is.")
    hardware: str | None = Field(
        default=None, description="The machine of the last result; null: there is none yet."
    )


class DeviceList(Answer):
    """Every configured device."""

    devices: list[DeviceView]
