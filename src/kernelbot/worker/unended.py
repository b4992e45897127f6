"""Jobs that nobody follows any more and that couldn't be stopped, because their scheduler was away.

Each of them has a GPU, or will have one, for nobody.
"""

import asyncio
import time
from collections.abc import Callable

import structlog

from kernelbot.launchers.base import Launcher
from kernelbot.worker.crashes import Crashes
from kernelbot.worker.retries import jittered

_FIRST_S = 2.0
_LONGEST_S = 60.0
_FOR_S = 86400.0
"""Longer than any of them lasts."""
log = structlog.get_logger()


class UnendedJobs:
    """Those of one launcher, each of which is stopped and forgotten as soon as that can be done."""

    def __init__(
        self, name: str, launcher: Launcher, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log.bind(launcher=name)
        self._launcher = launcher
        self._clock = clock
        self._crashes = Crashes(name, self._log)
        self._since: dict[str, float] = {}
        """Since when each is to be stopped, the one that is tried next first."""
        self._some = asyncio.Event()

    def __len__(self) -> int:
        return len(self._since)

    async def end(self, handle: str) -> None:
        """Stop a job and forget it; if that fails, it is done later. Raises nothing."""
        if error := await self._try(handle):
            self._log.warning("job_not_stopped", handle=handle, error=error)
            self._since.setdefault(handle, self._clock())
            self._some.set()

    async def run(self) -> None:
        """Stop what is left, again and again. Never ends by itself."""
        pause_s = _FIRST_S
        while True:
            if not self._since:
                self._some.clear()
                await self._some.wait()
                pause_s = _FIRST_S
            await asyncio.sleep(jittered(pause_s))
            went_well = await self.try_all()
            pause_s = _FIRST_S if went_well else min(pause_s * 2, _LONGEST_S)

    async def try_all(self) -> bool:
        """Stop one after the other, until one fails, which is tried after the others next time.
        False: one has failed."""
        while self._since:
            handle, since = next(iter(self._since.items()))
            error = await self._try(handle)
            del self._since[handle]
            if not error:
                self._log.info("job_stopped", handle=handle)
                continue
            if self._clock() - since > _FOR_S:
                self._log.error("job_given_up", handle=handle, error=error)
                continue
            self._since[handle] = since
            return False
        return True

    async def _try(self, handle: str) -> str:
        """Why it can't be done now; empty: it is done."""
        try:
            await self._launcher.cancel(handle)
            await self._launcher.forget(handle)
        except Exception as error:  # noqa: BLE001 (told; it ends nothing else)
            return self._crashes.tell(error) or type(error).__name__
        self._crashes.end()
        return ""
