"""What a spare runner is told: first where to move in, and when its turn comes, what to do."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from kernelbot.protocol import Limits


class Entry(StrEnum):
    """What the runner does with its channel."""

    SERVE = "serve"
    """The native runner: the judge drives it call by call."""
    RANKS = "ranks"
    """Several native runners in one sandbox, each with a channel of its own."""
    EXAMINE = "examine"
    """The problem's own code: generator, reference and checker."""
    EXAMINE_RANKS = "examine ranks"
    """The same, in a process for each of several ranks."""
    EXEC = "exec"
    """One command, e.g. a compiler or a problem's own script."""

    @property
    def examines(self) -> bool:
        """Whether the problem's own code runs in it."""
        return self in (Entry.EXAMINE, Entry.EXAMINE_RANKS)

    @property
    def has_loopback(self) -> bool:
        """Whether its processes can connect to each other. A native runner alone can't: what a
        connection does later, by the system's timers, would take time from others while its owner
        is frozen."""
        return self in (Entry.RANKS, Entry.EXAMINE_RANKS, Entry.EXEC)


@dataclass(frozen=True)
class RunnerPlace:
    """Where a runner moves in. The descriptors come with it, see `init`."""

    box: str = "/box"
    """The work folder: one of its own where nothing is isolated."""
    channels: int = 1
    """How many the runner gets: one for each rank."""

    def to_wire(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_wire(cls, body: dict[str, Any]) -> "RunnerPlace":
        """Read what `to_wire` wrote; both ends are ours and of one version."""
        return cls(box=body["box"], channels=body["channels"])


@dataclass(frozen=True)
class RunnerOrder:
    """The runner's task and bounds."""

    entry: Entry
    limits: Limits
    rlimit_memory: bool
    """No memory cgroup: let RLIMIT_DATA stand in."""
    rlimit_processes: bool

    def to_wire(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_wire(cls, body: dict[str, Any]) -> "RunnerOrder":
        """Read what `to_wire` wrote; both ends are ours and of one version."""
        return cls(
            entry=Entry(body["entry"]),
            limits=Limits(**body["limits"]),
            rlimit_memory=body["rlimit_memory"],
            rlimit_processes=body["rlimit_processes"],
        )
