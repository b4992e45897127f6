"""Children of `serve`: started again when they die or stand still, stopped in order."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import structlog

from kernelbot.server.settings import Settings
from kernelbot.server.watchdog import STANDSTILL_S

_STOP_SLACK_S = 10.0
_STEADY_S = 30.0
_MAX_PAUSE_S = 10.0
_LOOKS = 12
"""How often a child that a signal has stopped is looked at before it is killed."""
START_CHILD = (sys.executable, "-P", "-m", "kernelbot.server.child")
log = structlog.get_logger()


@dataclass(frozen=True)
class SupervisedProcess:
    """A process to keep running. Its standard input ends when we are gone."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]
    patience_s: float
    """Time from the request to stop until it is killed."""
    descriptors: tuple[int, ...] = ()
    """Descriptors that it inherits besides the standard ones."""
    standstill_s: float = STANDSTILL_S
    """For how long it may be stopped by a signal. If it hangs, it ends itself (`watchdog`), but it
    can't if nothing of it runs."""


def child(
    settings: Settings,
    url: str,
    module: str,
    *arguments: str,
    grace_s: float,
    environment: dict[str, str] | None = None,
    descriptors: tuple[int, ...] = (),
) -> SupervisedProcess:
    """A module of `server` as a child over the database at `url`, which takes up to `grace_s` to
    end."""
    return SupervisedProcess(
        name=module,
        command=(*START_CHILD, f"kernelbot.server.{module}", *arguments),
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
async def supervised(*children: SupervisedProcess) -> AsyncIterator[None]:
    """The children run while the block does; at its end all are stopped at the same time."""
    stopping = asyncio.Event()
    tasks = [asyncio.create_task(_keep(child, stopping), name=child.name) for child in children]
    try:
        yield
    finally:
        stopping.set()
        await asyncio.gather(*tasks)


async def _keep(child: SupervisedProcess, stopping: asyncio.Event) -> None:
    pause_s = 0.2
    while not stopping.is_set():
        started_s = time.monotonic()
        try:
            process = await _start(child)
        except OSError as error:  # no memory, or too many processes: this may be temporary
            log.error("child_not_started", child=child.name, error=str(error))
        else:
            code = await _ended(process, child, stopping)
            if code is None:
                await _stop(process, child)
                return
            log.error("child_died", child=child.name, exit_code=code)
        steady = time.monotonic() - started_s > _STEADY_S
        pause_s = 0.2 if steady else min(pause_s * 2, _MAX_PAUSE_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await stopping.wait()


async def _start(child: SupervisedProcess) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *child.command,
        stdin=asyncio.subprocess.PIPE,
        env=child.environment,
        pass_fds=child.descriptors,
        # Ctrl-C goes to us only; we then stop the child in order.
        process_group=0,
    )


async def _ended(
    process: asyncio.subprocess.Process, child: SupervisedProcess, stopping: asyncio.Event
) -> int | None:
    """The process's exit code if it ended by itself or because it stood still; None: it must be
    stopped."""
    waits = [asyncio.ensure_future(process.wait()), asyncio.ensure_future(stopping.wait())]
    watch = asyncio.ensure_future(_kill_stopped(process, child))
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in (*waits, watch):
        wait.cancel()
    return None if stopping.is_set() else process.returncode


async def _kill_stopped(process: asyncio.subprocess.Process, child: SupervisedProcess) -> None:
    """Kill it once it was found stopped by a signal so many times in a row. Our own turns are
    counted: while the machine sleeps, or we are stopped too, no time passes for it."""
    looks = 0
    while looks < _LOOKS:
        await asyncio.sleep(child.standstill_s / _LOOKS)
        looks = looks + 1 if _is_stopped(process.pid) else 0
    log.error("child_stands_still", child=child.name, standstill_s=child.standstill_s)
    with contextlib.suppress(ProcessLookupError):
        process.kill()


def _is_stopped(pid: int) -> bool:
    """Whether a signal has stopped our child, and none has continued it."""
    try:
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # it has ended
        return False


async def _stop(process: asyncio.subprocess.Process, child: SupervisedProcess) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(child.patience_s):
            await process.wait()
    except TimeoutError:
        log.error("child_killed", child=child.name, waited_s=child.patience_s)
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
