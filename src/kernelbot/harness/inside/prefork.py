"""Processes forked ahead of need, so that a job costs a message instead of a fork.

None is made beside one at work that a fork would disturb: it takes processors from whoever is
measured at the time. Single-threaded, and no author's code runs in the process that forks.
"""

import os
import secrets
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from kernelbot.harness.data import wire

_REAP_EVERY_MS = 1000


@dataclass(frozen=True, eq=False)
class ForkedChild:
    """A forked process; `control` is the socket on which it waits for its order."""

    pid: int
    control: socket.socket


class Prefork:
    """Keeps children waiting, and serves whoever asks for one."""

    def __init__(
        self,
        spare: int,
        run: Callable[[socket.socket], NoReturn],
        fork: Callable[[socket.socket], int] = lambda _control: os.fork(),
    ) -> None:
        """`spare`: how many wait; `run`: a child's whole life, given its end of
        `ForkedChild.control`; `fork`: as `os.fork`, given the same."""
        self._wanted = spare
        self._run = run
        self._fork = fork
        self._spares: list[ForkedChild] = []
        self._assigned: dict[int, ForkedChild] = {}
        self._at_work: dict[int, ForkedChild] = {}
        self._undisturbed: set[int] = set()
        """Those of them beside which no spare is made."""
        self._watched: dict[int, tuple[socket.socket, Callable[[], None]]] = {}
        self._poll = select.poll()
        self._wakeup: tuple[int, ...] = ()
        self._stopped = False

    @property
    def is_idle(self) -> bool:
        """Whether no child is at work."""
        return not self._at_work

    def is_at_work(self, child: ForkedChild) -> bool:
        """Whether a child was taken and hasn't ended."""
        return self._at_work.get(child.pid) is child

    def watch(self, sock: socket.socket, on_readable: Callable[[], None]) -> None:
        """Call `on_readable` in `serve` whenever there is something to read."""
        self._watched[sock.fileno()] = (sock, on_readable)
        self._poll.register(sock, select.POLLIN)

    def forget(self, sock: socket.socket) -> None:
        """Watch a socket no more."""
        self._poll.unregister(sock)
        del self._watched[sock.fileno()]

    def fill(self) -> None:
        """Make all spares."""
        while self._make_spare():
            pass

    def serve(self, after_each: Callable[[], None] = lambda: None) -> None:
        """Call who watches, reap, and make spares, until `stop`. `after_each` round, and about
        once a second, there is time for something else."""
        awake = self._wake_on_deaths()
        made = False
        while not self._stopped:
            for fd, _ in self._poll.poll(0 if made else _REAP_EVERY_MS):
                if fd == awake:
                    os.read(awake, 4096)
                elif fd in self._watched:
                    self._watched[fd][1]()
            self._reap()
            after_each()
            made = not self._stopped and self._make_spare()

    def stop(self) -> None:
        """Have `serve` return."""
        self._stopped = True

    def spawn(self, *, undisturbed: bool) -> ForkedChild:
        """A child, which is at work from now on, see `start`. Raises OSError if there can be
        none."""
        child = self.assign()
        self.start(child, undisturbed=undisturbed)
        return child

    def assign(self) -> ForkedChild:
        """A child that goes on waiting, for one and the same. Raises OSError if there can be none.

        It counts as a spare until it is started or has ended. Which one is left to chance: the
        order in which they were forked shows in numbers that a child can read (of its mounts,
        namespaces, devices), and would tell it what it was taken for.
        """
        child = self._any_spare() if self._spares else self._fork_child()
        self._assigned[child.pid] = child
        return child

    def start(self, child: ForkedChild, *, undisturbed: bool) -> None:
        """An assigned child is at work from now on; nothing happens if it has ended. `undisturbed`:
        no spare is made before it has ended."""
        if self._assigned.pop(child.pid, None) is child:
            self._at_work[child.pid] = child
            if undisturbed:
                self._undisturbed.add(child.pid)

    def kill(self, child: ForkedChild) -> None:
        """End a child at work; harmless if it has ended. It is at work until `serve` has seen its
        end, which may take a large one 20 ms: others are served meanwhile. Until then its pid can't
        have been given to another."""
        child.control.close()
        if self.is_at_work(child):
            os.kill(child.pid, signal.SIGKILL)

    def kill_all(self) -> None:
        """End all children, and return once they have ended."""
        for child in (*self._spares, *self._assigned.values()):
            self._at_work[child.pid] = child
        self._spares = []
        self._assigned = {}
        for child in self._at_work.values():
            self.kill(child)
        for pid in self._at_work:
            os.waitpid(pid, 0)
        self._at_work = {}
        self._undisturbed = set()

    def _any_spare(self) -> ForkedChild:
        return self._spares.pop(secrets.randbelow(len(self._spares)))

    def _make_spare(self) -> bool:
        """One at most, so that whoever asks meanwhile is served in between; whether it was."""
        if self._undisturbed or len(self._spares) + len(self._assigned) >= self._wanted:
            return False
        try:
            self._spares.append(self._fork_child())
        except OSError as error:
            sys.stderr.write(f"no spare process: {error}\n")
            return False
        return True

    def _fork_child(self) -> ForkedChild:
        control, far = wire.pair()
        pid = self._fork(far)
        if pid == 0:
            control.close()
            self._leave()
            self._run(far)
        far.close()
        return ForkedChild(pid, control)

    def _leave(self) -> None:
        """In a child: let go of what only this process needs."""
        for child in (*self._spares, *self._assigned.values()):
            child.control.close()
        for sock, _ in self._watched.values():
            sock.close()
        if self._wakeup:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            wire.close_all(self._wakeup)

    def _wake_on_deaths(self) -> int:
        awake, waker = self._wakeup = os.pipe()
        signal.signal(signal.SIGCHLD, lambda *_: None)
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self._poll.register(awake, select.POLLIN)
        return awake

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                self._at_work.pop(pid, None)
                self._undisturbed.discard(pid)
                self._assigned.pop(pid, None)
                self._spares = [spare for spare in self._spares if spare.pid != pid]
