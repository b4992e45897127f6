"""How busy devices are, and what workers have counted."""

from dataclasses import dataclass


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
