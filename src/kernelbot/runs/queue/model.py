"""How authors share devices, and the place of what waits."""

from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class QueueRules:
    """How authors share a device. Limits count runs per author and device."""

    waiting_limit: int = 100
    """How many may wait; submitting more is refused."""
    running_limit: int | None = None
    """How many may be judged at once; None: as many as the device has slots."""
    ranked_first: bool = False
    """Ranked runs go before all others, regardless of turns."""


@dataclass(frozen=True)
class ScriptRules:
    """How people share the devices for scripts by themselves. Each has one at once."""

    per_hour: int = 20
    """How many one person may run."""
    waiting_limit: int = 10
    """How many of all people may wait for one device."""


@dataclass(frozen=True)
class QueuePosition:
    """How far ahead of its turn a submission is: the data of `event: queue`. 1 is next.

    Positions are counted in runs, in the order of turns. A run whose author has as many runs
    running as they may is passed over until one has ended: only `wait_s` considers that. There is
    no estimate if no worker serves the device just now, or if a slot isn't free and nothing of the
    modes that wait has ended yet.
    """

    position: int
    wait_s: float | None = field(
        default=None, metadata=described("A guess; null: none can be made.")
    )
    note: str = field(
        default="",
        metadata=described("Why nothing is judged on its device just now; empty: it is."),
    )


@dataclass(frozen=True)
class DeviceQueuePosition(QueuePosition):
    """The place of a waiting submission in the queue of the device that will judge it first."""

    device: str = field(kw_only=True)
