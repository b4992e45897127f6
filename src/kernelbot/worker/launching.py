"""Handing a job to a launcher, so that a cancellation leaves no job behind that nobody knows."""

import asyncio
from collections.abc import Callable

from kernelbot.launchers.base import Launcher
from kernelbot.protocol import JobSpec
from kernelbot.worker.retries import with_retries

_REPEATED_S = 60.0
"""For how long a launch that fails is repeated. Given up, there may be a job that nobody knows."""
_LIMIT_S = 20.0
"""How long a launch that nobody waits for any more may go on, until its handle is known."""


async def launch_whole(
    launcher: Launcher, spec: JobSpec, on_cancel: Callable[[], None], known: Callable[[str], None]
) -> str:
    """The job's handle. Cancelled: calls `on_cancel`, and waits all the same until it is known
    whether there is a job to stop: then it calls `known` with the handle."""
    for_s = min(launcher.traits.silence_s, _REPEATED_S)
    launching = asyncio.ensure_future(with_retries(lambda: launcher.launch(spec), for_s))
    try:
        return await asyncio.shield(launching)
    except asyncio.CancelledError:
        on_cancel()
        await asyncio.wait([launching], timeout=_LIMIT_S)
        if launching.done() and not launching.cancelled() and not launching.exception():
            known(launching.result())
        launching.cancel()
        raise
