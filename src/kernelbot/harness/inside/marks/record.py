"""The page that judge and runner share in a timed call, and what both do with it."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from kernelbot.harness.inside.marks.probes import Probes

MAX_ADDRESSES = 500
RECORD_BYTES = 4096


class MarkOutcome(IntEnum):
    """What the mark says about the call."""

    UNKNOWN = 1
    """It returned something whose address only a description will tell."""
    TAKEN = 2
    """It returned, and the addresses are those of its output's bytes."""
    RAISED = 3


class MarkRecord(ctypes.Structure):
    """What judge and runner share; the runner may write anything there."""

    _fields_ = (
        ("go", ctypes.c_uint32),
        ("describe", ctypes.c_uint32),
        ("mark", ctypes.c_uint32),
        ("outcome", ctypes.c_uint32),
        ("start_ns", ctypes.c_int64),
        ("end_ns", ctypes.c_int64),
        ("count", ctypes.c_uint64),
        ("addresses", ctypes.c_uint64 * MAX_ADDRESSES),
    )


@dataclass(frozen=True)
class Ready:
    """What the runner says as its last act before a call, and over which socket."""

    socket_fd: int
    message: bytes


Rows = Sequence[tuple[Any, ...]]
"""The arguments of calls that follow each other."""


class Marks(Protocol):
    """Both sides' operations on the record at an address."""

    @property
    def no_kernel(self) -> Callable[..., Any]:
        """A compiled kernel that does nothing."""

    def call(
        self,
        record: int,
        turn: int,
        function: Callable[..., Any] | None,
        rows: Rows,
        output: Any,
        ready: Ready | None,
    ) -> list[Any]:
        """In the runner: say `ready`, wait for `go`, make the calls between the marks, wait for
        `describe`. What the calls return.

        `output`: the object that they fill; None: what they return. Without a `function` one mark
        follows directly after the other. A C function with C arguments is called from C. Raises
        what the function raises.
        """

    def wait(
        self,
        record: int,
        turn: int,
        spin_s: float,
        sleep_s: float,
        schedstat: int,
        probes: Probes | None = None,
    ) -> tuple[int, bytes]:
        """In the judge: when the mark was seen, by `time.perf_counter_ns()` (0 if it wasn't), and
        the content of the descriptor `schedstat` (-1: none) at that moment.

        Polls for `spin_s` without a pause, then sleeps for at most `sleep_s`. `probes` are read at
        once, and record that, if the mark names as many arrays as they are for.
        """

    def set(self, word: int, turn: int) -> None:
        """Write `go` or `describe` at the address `word`, and wake the other side."""
