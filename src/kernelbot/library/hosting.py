"""The host that judges side by side: a warm judge with slots, reached from an event loop."""

import asyncio
import contextlib
import hashlib
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from kernelbot.domain.errors import Unavailable
from kernelbot.harness.host.warm.client import WarmJudge, WarmStart
from kernelbot.harness.host.warm.connection import Connection, JudgeHangs, NoWarmJudge, Stopped
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.harness.host.warm.names import judge_name
from kernelbot.protocol import JobSpec, ProgressEvent, RunResult
from kernelbot.server.judge_once import no_result
from kernelbot.server.judging_slots import JudgingSlots
from kernelbot.server.warm_judge import warm_judge

_NAME_LENGTH = 24
_STOP_S = 30.0
"""How long a host may take to end a job that was stopped before it counts as hung."""
log = logging.getLogger(__name__)


def host_with_slots(folder: PrivateFolder, slots: int) -> WarmJudge:
    """The warm judge that takes so many jobs side by side. It is another one than that of
    `kernelbot run`, which has all processors for one job."""
    options = ("--slots", str(slots))
    usual = warm_judge(folder)
    name = hashlib.sha256("\0".join((judge_name(), *options)).encode()).hexdigest()
    return replace(usual, name=name[:_NAME_LENGTH], how_to_start=lambda: _with(usual, options))


def _with(usual: WarmJudge, options: tuple[str, ...]) -> WarmStart:
    start = usual.how_to_start()
    return replace(start, options=(*start.options, *options))


class _Attempt:
    """One job at the host, from a thread; `stop` is called from another one."""

    def __init__(self, host: WarmJudge, job: JobSpec) -> None:
        self._host = host
        self._job = job
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._is_stopped = False

    def run(self) -> RunResult:
        """Raises `NoWarmJudge`, and `Stopped`."""
        try:
            with self._host.connected(log.info) as connection:
                self._attach(connection)
                try:
                    return connection.judge(self._job, _ignore, _ignore)
                finally:
                    self._detach()
        except JudgeHangs as error:
            _end(error.pid)
            raise

    def stop(self) -> None:
        """Have `run` end as soon as the job has."""
        with self._lock:
            self._is_stopped = True
            if self._connection is not None:
                self._connection.stop()

    def end_host(self) -> None:
        """Kill the host that hasn't ended the job after `stop`: it hangs, and never would."""
        with self._lock:
            if self._connection is not None:
                _end(self._connection.pid)

    def _attach(self, connection: Connection) -> None:
        with self._lock:
            if self._is_stopped:
                raise Stopped
            self._connection = connection

    def _detach(self) -> None:
        with self._lock:
            self._connection = None


class HostClient:
    """Judges jobs at the host, so many at once. For one event loop."""

    def __init__(self, folder: PrivateFolder, slots: int) -> None:
        self._slots = slots
        self._host = host_with_slots(folder, slots)
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="kernelbot-judge")
        self._free = JudgingSlots(slots)
        self._gathering = asyncio.Lock()

    async def start(self) -> None:
        """Have the host there before the first job. Raises `Unavailable`."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._greet)
        except NoWarmJudge as error:
            raise Unavailable(f"Nothing can be judged here: {error}") from error

    def close(self) -> None:
        """Nothing is judged by then. The host stays for the next ones."""
        self._threads.shutdown(wait=False)

    async def judge(self, job: JobSpec, *, first: bool = False) -> RunResult:
        """Judge, before those that wait for a slot if it is `first`. If the host fails meanwhile,
        once more, with nothing beside it: then a job that brings hosts down loses its own result
        alone, an `internal_error` that says so. Cancelled, it returns once the host has ended the
        job."""
        async with self._free.one(first=first):
            try:
                return await self._attempt(job)
            except NoWarmJudge as error:
                log.warning("%s Trying again.", error)
        async with self._alone():
            try:
                return await self._attempt(job)
            except NoWarmJudge as error:
                return no_result(job, f"This result was lost, twice. {error}")

    @contextlib.asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        held = 0
        try:
            async with self._gathering:
                while held < self._slots:
                    await self._free.acquire()
                    held += 1
            yield
        finally:
            for _ in range(held):
                self._free.release()

    async def _attempt(self, job: JobSpec) -> RunResult:
        attempt = _Attempt(self._host, job)
        running = asyncio.get_running_loop().run_in_executor(self._threads, attempt.run)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            attempt.stop()
            _, unended = await asyncio.wait([running], timeout=_STOP_S)
            if unended:
                attempt.end_host()
                await asyncio.wait([running])
            if not running.cancelled():
                running.exception()  # `Stopped`, or a failure that nobody waits to be told of
            raise

    def _greet(self) -> None:
        try:
            with self._host.connected(log.info):
                pass
        except JudgeHangs as error:
            _end(error.pid)
            with self._host.connected(log.info):
                pass


def _end(pid: int) -> None:
    """A host that doesn't answer: nobody else would end it, and all jobs would wait for it."""
    log.warning("The host (process %s) doesn't answer, and is ended.", pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _ignore(_said: ProgressEvent | str) -> None:
    return
