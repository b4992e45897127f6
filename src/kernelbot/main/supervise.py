"""The worker as a child of `serve`: started again when it dies, stopped in order."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator

import structlog

from kernelbot.main.settings import Settings

_STOP_SLACK_S = 10.0
_STEADY_S = 30.0
_LONGEST_PAUSE_S = 10.0
log = structlog.get_logger()


@contextlib.asynccontextmanager
async def supervised_worker(settings: Settings, url: str) -> AsyncIterator[None]:
    """A worker process runs while the block does; at the end it has finished or handed back
    what it ran."""
    supervisor = _Supervisor(settings, url)
    task = asyncio.create_task(supervisor.run(), name="worker supervisor")
    try:
        yield
    finally:
        await supervisor.stop()
        await task


class _Supervisor:
    def __init__(self, settings: Settings, url: str) -> None:
        self._patience_s = settings.worker.grace_s + _STOP_SLACK_S
        self._environment = {
            **os.environ,
            "DATABASE_URL": url,
            "DISABLE_SSL": "0",  # the URL says it already
            "KERNELBOT_DATA": str(settings.data),
        }
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        pause_s = 0.2
        while not self._stopping.is_set():
            started = time.monotonic()
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "kernelbot.main.work"),
                stdin=asyncio.subprocess.PIPE,  # its end tells the child that we are gone
                env=self._environment,
            )
            code = await self._process.wait()
            if self._stopping.is_set():
                return
            log.error("worker_died", exit_code=code)
            steady = time.monotonic() - started > _STEADY_S
            pause_s = 0.2 if steady else min(pause_s * 2, _LONGEST_PAUSE_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause_s)

    async def stop(self) -> None:
        self._stopping.set()
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), self._patience_s)
        except TimeoutError:
            log.error("worker_killed", waited_s=self._patience_s)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
