"""Freezing a control group: the kernel holds every process in it, and nothing inside can undo that.

No signal, timer or late child runs anything until the group is thawed from outside: a child is
born into its parent's group, and frozen with it.
"""

import os
import time

from kernelbot.harness.inside import kernel_files
from kernelbot.harness.words.sandbox import SandboxUnavailable

_PAUSE_S = 2e-5


class NotFrozen(SandboxUnavailable):
    """The kernel couldn't freeze a runner in time: what was being measured is of no use."""

    of_opponent: bool | None = None
    """Whether the runner is that of a duel's opponent. None: whose it is isn't known."""


class Freezer:
    """The freezer of one group, of version 1 or 2 of control groups."""

    def __init__(self, folder: str) -> None:
        """`folder`: of the group. Raises OSError."""
        second = kernel_files.exists(f"{folder}/cgroup.freeze")
        switch, report = (
            ("cgroup.freeze", "cgroup.events") if second else ("freezer.state", "freezer.state")
        )
        self.second_version = folder if second else None
        """The folder, if the group is of version 2."""
        self._on, self._off = (b"1", b"0") if second else (b"FROZEN", b"THAWED")
        self._done = b"frozen 1\n" if second else b"FROZEN\n"
        self._switch = os.open(f"{folder}/{switch}", os.O_RDWR | os.O_CLOEXEC)
        self._report = os.open(f"{folder}/{report}", os.O_RDONLY | os.O_CLOEXEC)
        self._is_on = False

    def freeze(self, timeout_s: float) -> None:
        """Return once the kernel says that all are frozen. Raises `NotFrozen`.

        A process that is inside the kernel, say freeing its memory, is waited for.
        """
        self._is_on = True
        os.pwrite(self._switch, self._on, 0)
        deadline = time.monotonic() + timeout_s
        while self._done not in os.pread(self._report, 256, 0):
            if time.monotonic() > deadline:
                raise NotFrozen(f"A runner's processes could not be frozen within {timeout_s:g} s.")
            time.sleep(_PAUSE_S)

    def thaw(self) -> None:
        """Let all go on. Nothing happens where they aren't frozen."""
        if self._is_on:
            os.pwrite(self._switch, self._off, 0)
            self._is_on = False

    def close(self) -> None:
        """Let go of the group, thawed: under version 1 nobody frozen can be killed. Idempotent."""
        if self._switch >= 0:
            self.thaw()
            os.close(self._switch)
            os.close(self._report)
            self._switch = self._report = -1
