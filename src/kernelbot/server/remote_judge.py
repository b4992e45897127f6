"""Judges jobs by a launcher, many at once, without a server and without a database."""

import asyncio
import contextlib
import logging
import os
import time
from dataclasses import replace

import structlog

from kernelbot.domain.errors import PlatformError, SchedulerError
from kernelbot.launchers.base import JobState, Launcher, Outcome
from kernelbot.launchers.results import NoResult
from kernelbot.protocol import JobSpec, RunResult
from kernelbot.protocol.result_size import most_bytes
from kernelbot.server.judge_once import no_result
from kernelbot.server.judging_slots import JudgingSlots
from kernelbot.worker.launching import launch_whole
from kernelbot.worker.reading import ResultReader
from kernelbot.worker.watching import Watcher

_NO_NODE_S = 120.0
"""After so long without a node that could take it, a job that waits is lost."""
_END_S = 30.0
"""How long a job that was cancelled may take to end."""
_LOOK_S = 0.1
log = logging.getLogger(__name__)


class RemoteJudge:
    """One launcher's jobs. For one event loop."""

    def __init__(self, name: str, launcher: Launcher, slots: int) -> None:
        """`name`: the cluster's, for the log. `slots`: how many jobs are launched at once."""
        self._launcher = launcher
        self._watcher = Watcher(name, launcher, _plain_log())
        self._reader = ResultReader()
        self._free = JudgingSlots(slots)
        self._watching = asyncio.create_task(self._watcher.run())

    async def close(self) -> None:
        """Nothing is judged by then."""
        self._watching.cancel()
        await asyncio.wait([self._watching])
        await self._reader.close()
        await self._launcher.close()

    async def judge(self, job: JobSpec, *, first: bool = False) -> RunResult:
        """Judge, before those that wait to be launched if it is `first`. If the job is lost,
        through no fault of its author's, once more; lost again, the result is an `internal_error`
        that says so. Cancelled, it returns once the job has ended."""
        async with self._free.one(first=first):
            try:
                return await self._attempt(job)
            except (SchedulerError, PlatformError) as error:
                log.warning("A job was lost: %s. Trying again.", error)
            again = replace(job, job_id=os.urandom(16).hex())  # the first one's is used up
            try:
                return await self._attempt(again)
            except (SchedulerError, PlatformError) as error:
                return no_result(again, f"This result was lost, twice: {error}.")

    async def _attempt(self, job: JobSpec) -> RunResult:
        """Raises `SchedulerError` if there is no result. Nothing is left of the job."""
        began_s = time.monotonic()
        handles: list[str] = []
        try:
            try:
                handles.append(await launch_whole(self._launcher, job, _nothing, handles.append))
            except (SchedulerError, PlatformError):
                handles += await self._launched_all_the_same(job.job_id)
                raise
            outcome = await self._outcome(handles[0], job)
            if outcome.left is None:
                raise SchedulerError(outcome.reason)
            return await self._reader.read(outcome.left, job, time.monotonic() - began_s)
        except NoResult as error:
            raise SchedulerError(str(error)) from None
        finally:
            for handle in handles:
                await self._end(handle)

    async def _launched_all_the_same(self, job_id: str) -> list[str]:
        """The handle of a job whose launch was answered by nothing; none if there is none, or if
        nobody knows."""
        try:
            handle = await self._launcher.find(job_id)
        except (SchedulerError, PlatformError) as error:
            log.warning("Nobody knows whether a job was launched: %s", error)
            return []
        return [] if handle is None else [handle]

    async def _outcome(self, handle: str, job: JobSpec) -> Outcome:
        """The last. Raises `SchedulerError` if no node could take the job for too long."""
        is_taken = asyncio.Event()
        following = asyncio.create_task(self._followed(handle, job, is_taken))
        looking = asyncio.create_task(self._expect_node(job.device.name, is_taken))
        try:
            await asyncio.wait({following, looking}, return_when=asyncio.FIRST_COMPLETED)
            return following.result() if following.done() else looking.result()
        finally:
            for task in (following, looking):
                task.cancel()
            await asyncio.wait({following, looking})

    async def _followed(self, handle: str, job: JobSpec, is_taken: asyncio.Event) -> Outcome:
        changes = self._watcher.changes(handle, most_bytes(job), longest_s=job.longest_s)
        async for outcome in changes:
            if outcome.state is not JobState.WAITING:
                is_taken.set()
            if outcome.state.is_over:
                return outcome
        raise SchedulerError("nobody told what became of it")

    async def _expect_node(self, device: str, is_taken: asyncio.Event) -> Outcome:
        """Never returns. Raises `SchedulerError`."""
        seen_s = time.monotonic()
        while True:
            await asyncio.sleep(self._launcher.traits.check_s)
            if is_taken.is_set():
                await asyncio.Event().wait()
            with contextlib.suppress(
                SchedulerError
            ):  # the watcher hears the same, and has patience
                found = await self._launcher.availability(device)
                if found.available:
                    seen_s = time.monotonic()
                elif time.monotonic() - seen_s > _NO_NODE_S:
                    break
        raise SchedulerError(found.note)

    async def _end(self, handle: str) -> None:
        """Have the job over, and nothing kept of it, if the cluster can be reached."""
        try:
            await self._launcher.cancel(handle)
            async with asyncio.timeout(_END_S):
                while not await self._is_over(handle):  # noqa: ASYNC110  # the cluster is asked
                    await asyncio.sleep(_LOOK_S)
        except (SchedulerError, PlatformError, TimeoutError) as error:
            log.warning("Nobody knows whether a job has ended: %s", error)
        with contextlib.suppress(SchedulerError, PlatformError):
            await self._launcher.forget(handle)

    async def _is_over(self, handle: str) -> bool:
        """Without the result: it was read, or nobody waits for it any more."""
        return (await self._launcher.poll([handle], {handle: 0}))[handle].state.is_over


def _nothing() -> None:
    return


def _plain_log() -> structlog.typing.WrappedLogger:
    """What a watcher says, in this program's own log: structlog would print it."""
    return structlog.wrap_logger(log, processors=[structlog.processors.KeyValueRenderer()])
