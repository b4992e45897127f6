"""What the judge knows of a call: its value, its times, and how the runner ended."""

from dataclasses import dataclass
from typing import Any

from kernelbot.harness.words.sandbox import RunnerExit


@dataclass(frozen=True)
class Window:
    """What the judge's own clocks saw around one timed call, in nanoseconds."""

    claim_ns: int
    """What the runner says the kernel took."""
    bracket_ns: int
    """From just before `go` was sent to just after `done` was read."""
    start_ns: int = 0
    """When the runner says that the kernel began, by the clock that all processes share."""
    build_cpu_ns: int = 0
    """Processor time the runner used to build the inputs, before `ready`; on a CPU, of the main
    thread alone: its helpers are bounded by `outside_ns`."""
    still_cpu_ns: int = 0
    """The same between `ready` and `go`, when it had to wait; nothing of it while it was frozen."""
    after_cpu_ns: int = 0
    """Processor time the main thread used from when the output was taken until it was described;
    0 if the call counts until then."""
    call_cpu_ns: int = 0
    """Processor time the main thread used from `go` until it waited again, or if the call counts
    until its output was described, until then."""
    call_tree_cpu_ns: int = 0
    """The same of the whole tree."""
    processors: int = 1
    """How many processors the tree may use at once."""
    waiting_ns: int = 0
    """How long the main thread, or the judge, was ready in that time but was given no processor."""
    waiting_known: bool = False
    """Whether all of that is in `waiting_ns`, on a GPU: of several ranks nothing is."""
    kept_waiting_ns: int | None = None
    """How long the main thread was ready in that time while others had its processor, none of the
    runner's own processes; None if the system can't tell."""
    outside_ns: int = 0
    """How long the runner took beside the call, in which it was awake: to get ready for it, and to
    describe its output, unless the call counts until then; without what it waited for a processor
    that others had."""
    outside_tree_cpu_ns: int = 0
    """Processor time that the whole tree used in `outside_ns`."""
    described: bool = False
    """Whether the call counts until its output was described: then nothing of it is the harness's.
    """
    disowned: bool = False
    """Whether it does because the runner described another output than the one taken at its mark.
    """
    describing_ns: int = 0
    """For how long threads of the runner computed, one of them or several at once, while it
    described an output that was taken at its mark; 0 if the call counts until then."""
    late_ns: int = 0
    """The same if it counts, beyond what describing usually takes: see `with_descriptions`."""
    stopping_ns: int = 0
    """How long its processes went on after the mark until they were frozen, and how long the judge
    read its output for, if that has gaps: what an author alone decides, and no part of a time."""

    @property
    def took_ns(self) -> int:
        """The judge's bracket, without waiting for a processor."""
        return self.bracket_ns - self.waiting_ns

    @property
    def shared_cpu_ns(self) -> float:
        """The least time in which the whole tree can have computed as much."""
        return self.call_tree_cpu_ns / self.processors


@dataclass(frozen=True)
class OutputLayout:
    """What it costs to hand an output over: how many arrays on a GPU, how many bytes they have
    together, and how many bytes are in the host's memory."""

    arrays: int = 0
    device_bytes: int = 0
    host_bytes: int = 0

    def at_most(self, other: "OutputLayout") -> "OutputLayout":
        """The cheaper of both in each respect."""
        return OutputLayout(
            min(self.arrays, other.arrays),
            min(self.device_bytes, other.device_bytes),
            min(self.host_bytes, other.host_bytes),
        )


@dataclass(frozen=True)
class Reply:
    """One call's outcome: the value rebuilt from raw bytes, and the window when it was timed."""

    value: Any
    window: Window
    size_bytes: int
    aliased: bool
    parts: int = 1
    """How many values the output consists of."""
    layouts: tuple[OutputLayout, ...] = ()
    """The layouts of outputs that were taken from arenas, by rank; empty if this one wasn't."""
    shared: bool = False
    """Whether two of its arrays share memory."""
    gaps: bool = False
    """Whether an array has gaps between its elements or is reversed, as far as the runner says."""


@dataclass(frozen=True)
class Ending:
    """How the runner ended, and what it printed."""

    exit: RunnerExit
    stdout: str
    stderr: str
