"""A harness host as a child process: JSON lines in, JSON lines out."""

import asyncio
import contextlib
import json
import math
import os
import signal
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import structlog

from kernelbot.launchers.lockfile import LockFile, is_held
from kernelbot.protocol import ProgressEvent, WireError, from_wire
from kernelbot.protocol.environment import passed_on
from kernelbot.protocol.version import PROTOCOL_VERSION

PATIENCE_S = 60.0
"""For how long a host may say nothing, although it is asked all the time."""
_STOP_S = 5.0
_KILLED_S = 5.0
"""For how long a host that was killed is waited for."""
_DEAD_S = 0.2
"""For how long the output of a host is read of whose group no process is left."""
_LOOK_S = 0.02
"""How often it is looked whether there is one."""
_LINE_BYTES = 4 << 20
_PINGS = 12
"""How often it is asked within its patience."""
log = structlog.get_logger()


class HostState(StrEnum):
    """The states of a host's one life; `TRANSITIONS` says what may follow what."""

    SERVING = "serving"
    """The only state in which it is given jobs."""
    ENDING = "ending"
    """It was told to end, was killed, or is dead: its process may still be there for a while."""
    GONE = "gone"


TRANSITIONS: dict[HostState, frozenset[HostState]] = {
    HostState.SERVING: frozenset({HostState.ENDING}),
    HostState.ENDING: frozenset({HostState.GONE}),
    HostState.GONE: frozenset(),
}


class HostProcess:
    """One life of a host. `on_event(job dir, event)` and `on_end(job dir, why)` are called from
    the event loop; `on_exit` once when the process is gone.

    One that stands still, stopped by a signal say, is killed after `patience_s`; one that has yet
    to answer for the first time may be as long as `PATIENCE_S` about starting. Whatever ends it,
    it is given no job from that moment on."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        lock_path: Path,
        on_event: Callable[[str, ProgressEvent], None],
        on_end: Callable[[str, str], None],
        on_exit: Callable[["HostProcess"], None],
        patience_s: float,
    ) -> None:
        self._process = process
        self.lock_path = lock_path
        self._on_event = on_event
        self._on_end = on_end
        self._on_exit = on_exit
        self._state = HostState.SERVING
        self._silent_for = 0
        """So many pings in a row have had no answer."""
        self._has_answered = False
        self.stood_still = False
        """Whether that is why it was killed."""
        self._watched = self._watch()
        self._reader = asyncio.create_task(self._read(), name=f"host {process.pid}")
        self._pinger = asyncio.create_task(self._ping(patience_s), name=f"ping {process.pid}")

    @classmethod
    async def start(
        cls,
        command: tuple[str, ...],
        lock_path: Path,
        on_event: Callable[[str, ProgressEvent], None],
        on_end: Callable[[str, str], None],
        on_exit: Callable[["HostProcess"], None],
        patience_s: float = PATIENCE_S,
    ) -> "HostProcess":
        """Start it. The lock file stays locked for exactly as long as the process lives."""
        lock = LockFile.acquire(lock_path)
        assert lock is not None, "the name was made for this process"
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                pass_fds=(lock.descriptor,),
                env=passed_on(os.environ),
                start_new_session=True,  # Ctrl-C is for us; the host ends when we say so
                limit=_LINE_BYTES,
            )
        finally:
            lock.release()
        return cls(process, lock_path, on_event, on_end, on_exit, patience_s)

    @property
    def state(self) -> HostState:
        """The host's state as far as this process knows; `give` looks at the host itself."""
        return self._state

    def give(self, job: str) -> bool:
        """Give it a job. False: it is ending, or dead without anybody having noticed; it hasn't
        got the job, and gets no other.

        Nothing comes between the look and the order, so a host whose job was called lost, because
        it was ended or because its lock was found free, isn't given the next attempt. What it has
        started may hold the lock a moment longer than it lives.
        """
        if self._state is HostState.SERVING and (self._has_exited() or not is_held(self.lock_path)):
            self.end()
        if self._state is not HostState.SERVING:
            return False
        self._write({"run": job})
        return True

    def _watch(self) -> int | None:
        """Have it ended once its process is dead, since what it has started may hold its output
        open for longer; None if the system can't tell: then it is ended for its silence."""
        try:
            descriptor = os.pidfd_open(self._process.pid)
        except OSError:
            return None
        asyncio.get_running_loop().add_reader(descriptor, self._died)
        return descriptor

    def _died(self) -> None:
        self._unwatch()
        self.end()

    def _unwatch(self) -> None:
        if self._watched is not None:
            asyncio.get_running_loop().remove_reader(self._watched)
            os.close(self._watched)
            self._watched = None

    def _has_exited(self) -> bool:
        """Whether its process is dead, also if nobody has asked for its exit status yet."""
        try:
            look = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._process.pid, look) is not None
        except ChildProcessError:  # somebody has
            return True

    async def cancel(self, job: str) -> None:
        """Tell it to stop a job. Silent when it is gone: its jobs are lost, as `poll` says."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._write({"cancel": job})
            await self._process.stdin.drain()

    def _write(self, message: dict[str, str]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def close(self) -> None:
        """Ask it to end, then make it."""
        assert self._process.stdin is not None
        self._becomes(HostState.ENDING)
        self._pinger.cancel()
        self._process.stdin.close()
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
        if await self._is_read(_STOP_S):
            self._reader.result()  # raises what reading did
            return
        self._kill()
        await self._let_go()

    async def _is_read(self, timeout_s: float) -> bool:
        """Wait for the end of its output; returns whether it has come. Once none of its group is
        left, all that they wrote can be read at once."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while not self._reader.done() and (now := loop.time()) < deadline:
            if not self._group_is_there():
                deadline = min(deadline, now + _DEAD_S)
            await asyncio.wait([self._reader], timeout=_LOOK_S)
        return self._reader.done()

    def _group_is_there(self) -> bool:
        """Whether there is a process of its group, if only one whose exit status nobody has."""
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # somebody else's by now
            return True
        return True

    async def _let_go(self) -> None:
        """Wait no longer than a process that was killed needs: one outside of its group may hold
        its output for ever."""
        if await self._is_read(_KILLED_S):
            return
        log.warning("host_output_held", pid=self._process.pid)
        self._reader.cancel()
        await asyncio.wait([self._reader])
        # The only way to close a pipe that has no end; the process is dead.
        self._process._transport.close()  # type: ignore[attr-defined]  # typeshed leaves it out
        self._unwatch()
        self._becomes(HostState.GONE)
        self._on_exit(self)

    async def _read(self) -> None:
        while line := await self._next_line():
            self._silent_for = 0
            self._has_answered = True
            self._take(line)
        self._pinger.cancel()
        self.end()
        await self._process.wait()
        self._unwatch()
        self._becomes(HostState.GONE)
        self._on_exit(self)

    async def _ping(self, patience_s: float) -> None:
        """Ask whether it lives, and kill it when it doesn't say so.

        What is counted are our own turns: a machine that was asleep, or we who were stopped, take
        nothing from its patience but one of them.
        """
        starting = math.ceil(_PINGS * max(1.0, PATIENCE_S / patience_s))
        while self._silent_for < (_PINGS if self._has_answered else starting):
            self._write({"ping": "alive"})  # never waits: one that stands still reads nothing
            await asyncio.sleep(patience_s / _PINGS)
            self._silent_for += 1
        log.error("host_stands_still", pid=self._process.pid, patience_s=patience_s)
        self.stood_still = True
        self.end()

    async def _next_line(self) -> bytes:
        """Empty at the end. What is too long is left out: only an event can be, and the host has
        other jobs."""
        assert self._process.stdout is not None
        while True:
            try:
                return await self._process.stdout.readline()
            except ValueError:
                log.error("host_line_too_long", pid=self._process.pid)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            if "pong" in message:
                return
            job = message["job"]
            if message.get("finished"):
                self._on_end(job, str(message.get("error", "")))
            elif "event" in message:
                body = {"version": PROTOCOL_VERSION, **message["event"]}
                self._on_event(job, from_wire(ProgressEvent, body))
        except (ValueError, KeyError, TypeError, WireError) as error:
            log.error("host_line_not_understood", line=line[:200], error=str(error))

    def end(self) -> None:
        """Kill it; its jobs are lost. Idempotent."""
        self._becomes(HostState.ENDING)
        self._kill()

    def _becomes(self, state: HostState) -> None:
        if state in TRANSITIONS[self._state]:
            self._state = state

    def _kill(self) -> None:
        """The whole process group: whatever it started must not outlive it."""
        if self._state is HostState.GONE:
            return  # its number may be another's
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
