"""Children of `serve`: started again when they die, stopped in order."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import structlog

from kernelbot.main.settings import Settings

_STOP_SLACK_S = 10.0
_STEADY_S = 30.0
_MAX_PAUSE_S = 10.0
log = structlog.get_logger()


@dataclass(frozen=True)
class Child:
    """A process to keep running. Its standard input ends when we are gone."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]
    patience_s: float
    """Time from the request to stop until it is killed."""
    descriptors: tuple[int, ...] = ()
    """Descriptors that it inherits besides the standard ones."""


def child(
    settings: Settings,
    url: str,
    module: str,
    *arguments: str,
    grace_s: float,
    environment: dict[str, str] | None = None,
    descriptors: tuple[int, ...] = (),
) -> Child:
    """A module of `main` as a child over the database at `url`, which takes up to `grace_s` to
    end."""
    return Child(
        name=module,
        command=(sys.executable, "-P", "-m", f"kernelbot.main.{module}", *arguments),
        environment={
            **os.environ,
            "DATABASE_URL": url,
            "DISABLE_SSL": "0",  # the URL already contains it
            "KERNELBOT_DATA": str(settings.data),
            **(environment or {}),
        },
        patience_s=grace_s + _STOP_SLACK_S,
        descriptors=descriptors,
    )


@contextlib.asynccontextmanager
async def supervised(*children: Child) -> AsyncIterator[None]:
    """The children run while the block does; at its end all are stopped at the same time."""
    stopping = asyncio.Event()
    tasks = [asyncio.create_task(_keep(child, stopping), name=child.name) for child in children]
    try:
        yield
    finally:
        stopping.set()
        await asyncio.gather(*tasks)


async def _keep(child: Child, stopping: asyncio.Event) -> None:
    pause_s = 0.2
    while not stopping.is_set():
        started_s = time.monotonic()
        try:
            process = await _start(child)
        except OSError as error:  # no memory, or too many processes: this may be temporary
            log.error("child_not_started", child=child.name, error=str(error))
        else:
            code = await _ended(process, stopping)
            if code is None:
                await _stop(process, child)
                return
            log.error("child_died", child=child.name, exit_code=code)
        steady = time.monotonic() - started_s > _STEADY_S
        pause_s = 0.2 if steady else min(pause_s * 2, _MAX_PAUSE_S)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), pause_s)


async def _start(child: Child) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *child.command,
        stdin=asyncio.subprocess.PIPE,
        env=child.environment,
        pass_fds=child.descriptors,
        # Ctrl-C goes to us only; we then stop the child in order.
        process_group=0,
    )


async def _ended(process: asyncio.subprocess.Process, stopping: asyncio.Event) -> int | None:
    """Its exit code if it ended by itself; None: it must be stopped."""
    waits = [asyncio.ensure_future(process.wait()), asyncio.ensure_future(stopping.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    return None if stopping.is_set() else process.returncode


async def _stop(process: asyncio.subprocess.Process, child: Child) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), child.patience_s)
    except TimeoutError:
        log.error("child_killed", child=child.name, waited_s=child.patience_s)
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
