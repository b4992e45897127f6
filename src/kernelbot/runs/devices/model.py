"""Devices: how they are configured, whether they can be reached, how busy they are."""

from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.protocol import DeviceSpec
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class DeviceConfig:
    """A configured device: what it is, which launchers reach it, how many runs at once."""

    spec: DeviceSpec
    launchers: tuple[str, ...]
    """In order of preference; never empty."""
    slots: int = 1
    reserved_cores: int = 1
    """How many of a CPU's cores submissions may not use, so that the judge has them."""
    turns: bool = True
    """Whether runs on a CPU measure one at a time on their machine."""
    gpus: int = 1
    """How many GPUs one run gets; means nothing for a CPU."""
    memory_bytes: int | None = None
    """The memory of one GPU, for people; None: not configured."""
    builds_on: str | None = None
    """The device on which its files are compiled before a run is launched; None: where they run."""
    image: str = ""
    """Names what its machines and those of `builds_on` have installed."""
    one_allocation: bool = True
    """Whether a scheduler's node that judges a submission's public run goes on with its secret one.
    Means nothing for a CPU."""
    preflight: bool = True
    """Whether authors are told what compilers say, by idle time of another device, if `builds_on`
    is None. Means nothing for a CPU."""


@dataclass(frozen=True)
class LauncherHealth:
    """Whether a device can be reached by one of its launchers."""

    launcher: str
    available: bool
    note: str = field(metadata=described("Why it isn't available; empty when it is."))


@dataclass(frozen=True)
class DeviceReport:
    """A worker's report on a device: whether it can use it just now, and why not."""

    device: str
    available: bool
    note: str
    launchers: tuple[LauncherHealth, ...] = ()
    """Each by itself, the preferred first."""


@dataclass(frozen=True)
class DeviceStatus:
    """A configured device and how busy it is."""

    name: str
    vendor: str
    launcher: str = field(metadata=described("The one that would take the next run."))
    launchers: tuple[LauncherHealth, ...] = field(metadata=described("The preferred first."))
    gpus: int = field(metadata=described("How many GPUs a run gets; 0: it is a CPU."))
    memory_bytes: int | None = field(metadata=described("Of one GPU; null: not configured."))
    queued: int
    running: int
    available: bool
    note: str = field(metadata=described("Why it isn't available; empty when it is."))
    hardware: str | None = field(
        default=None, metadata=described("The machine of the last result; null: there is none yet.")
    )


@dataclass(frozen=True)
class QueueLength:
    """How many runs wait for a device, and how many are at work on it."""

    queued: int = 0
    running: int = 0


@dataclass(frozen=True)
class QueueLoad(QueueLength):
    """The same, with how long the oldest that waits has waited."""

    longest_wait_s: float = 0.0


@dataclass(frozen=True)
class WorkerCount:
    """A counter of one worker since its start."""

    owner: str
    name: str
    label: str
    value: float
