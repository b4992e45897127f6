"""What trusted processes say to each other about a runner: the judge, forker, init, and the runner
itself until it meets the author's code."""

from enum import StrEnum

from kernelbot.harness.words.message import Message, encode
from kernelbot.protocol import Limits


class RunnerEntry(StrEnum):
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
        return self in (RunnerEntry.EXAMINE, RunnerEntry.EXAMINE_RANKS)

    @property
    def has_loopback(self) -> bool:
        """Whether its processes can connect to each other. A native runner alone can't: what a
        connection does later, by the system's timers, would take time from others while its owner
        is frozen."""
        return self in (RunnerEntry.RANKS, RunnerEntry.EXAMINE_RANKS, RunnerEntry.EXEC)


class SpareRequest(Message):
    """What a spare runner is told: first where to move in, and when its turn comes, what to do."""


class RunnerWorkspace(SpareRequest, word="place"):
    """Where a runner moves in. The descriptors come with it, see `init`."""

    box: str = "/box"
    """The work folder: one of its own where nothing is isolated."""
    channels: int = 1
    """How many the runner gets: one for each rank."""
    connects: bool = False
    """Whether it is to have a loopback, and may ask for addresses."""


class RunnerOrder(SpareRequest, word="order"):
    """The runner's task and bounds."""

    entry: RunnerEntry
    limits: Limits
    rlimit_memory: bool
    """No memory cgroup: let RLIMIT_DATA stand in."""
    rlimit_processes: bool

    @property
    def folder_bytes(self) -> int:
        """The size that the runner's private folders are to get; 0 if they have it already."""
        wanted_bytes = self.limits.file_size_bytes
        return 0 if wanted_bytes == Limits().file_size_bytes else wanted_bytes


class ForkerRequest(Message):
    """What the forker is asked."""


class Connect(ForkerRequest, word="connect"):
    """Serve one client more, whose socket comes along."""


class PlaceRunner(ForkerRequest, word="place"):
    """Have a spare runner move in; the descriptors come along, see `init`."""

    number: int
    """By which the client names it later."""
    workspace: RunnerWorkspace


class StartRunner(ForkerRequest, word="start"):
    """Have the runner do its task."""

    number: int
    order: str
    """A `RunnerOrder` as it travels. The forker passes it on unread: what it does between two forks
    copies pages."""
    folder_bytes: int
    """What a native init wants to know of it, see `RunnerOrder`."""
    has_loopback: bool
    undisturbed: bool
    """Whether no spares are forked before it has ended."""

    @classmethod
    def with_order(cls, number: int, order: RunnerOrder, *, undisturbed: bool) -> "StartRunner":
        """The message for an order."""
        text = encode(order).decode()
        return cls(number, text, order.folder_bytes, order.entry.has_loopback, undisturbed)


class ForkerReply(Message):
    """What the forker says."""


class ForkerReady(ForkerReply, word="ready"):
    """To its starter. `native_marks`: whether native code sets the marks of a call."""

    native_marks: bool


class Connected(ForkerReply, word="connected"):
    """To a client, first of all."""

    isolated: bool


class SpareReply(Message):
    """What a spare runner says to its init."""


class Isolated(SpareReply, word="isolated"):
    """The spare is isolated, and waits for its workspace."""


class NotIsolated(SpareReply, word="not isolated"):
    """The spare can't be isolated on this machine."""

    error: str


class RunnerStatus(Message):
    """What a runner's trusted processes tell the judge."""


class Hello(RunnerStatus, word="hello"):
    """The sender, whose process id the kernel adds, has come so far: `init`, `runner`, `ready`, or
    one of the ranks."""

    who: str


class NotStarted(RunnerStatus, word="error"):
    """There will be no runner."""

    error: str


class RankEnded(RunnerStatus, word="rank"):
    """The first of the ranks to end."""

    rank: int


class RunnerEnded(RunnerStatus, word="ended"):
    """How the runner ended."""

    wait_status: int
    cpu_time_s: float
