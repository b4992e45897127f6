"""Jobs that nobody follows any more and that couldn't be stopped, because their scheduler was away
or has never said that there is one.

Each of them has a GPU, or will have one, for nobody.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from kernelbot.launchers.base import Launcher
from kernelbot.worker.crashes import Crashes
from kernelbot.worker.retries import jittered

_FIRST_S = 2.0
_LONGEST_S = 60.0
_FOR_S = 86400.0
"""Longer than any of them lasts."""
_APPEARS_S = 600.0
"""For how long a scheduler that answers may not show a job that it has accepted."""
log = structlog.get_logger()


@dataclass(frozen=True)
class _Sought:
    """A job that is looked for."""

    since: float
    may_appear: bool
    until: float | None = None
    """When it won't show any more; None: the scheduler hasn't answered yet."""

    def not_shown(self, now: float) -> "_Sought | None":
        """What it is once the scheduler has answered that it shows no such job; None: there is
        none."""
        if not self.may_appear or (self.until is not None and now >= self.until):
            return None
        return self if self.until is not None else replace(self, until=now + _APPEARS_S)


class UnendedJobs:
    """Jobs of one launcher that nobody waits for, each of which is stopped and forgotten as soon as
    that can be done."""

    def __init__(
        self, name: str, launcher: Launcher, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log.bind(launcher=name)
        self._launcher = launcher
        self._clock = clock
        self._crashes = Crashes(name, self._log)
        self._since: dict[str, float] = {}
        """Since when each is to be stopped, the one that is tried next first."""
        self._sought: dict[str, _Sought] = {}
        """By their ids, jobs of which nobody knows whether there are any; the one that is looked
        for next comes first."""
        self._some = asyncio.Event()

    def __len__(self) -> int:
        return len(self._since) + len(self._sought)

    async def end(self, handle: str) -> None:
        """Stop a job and forget it; if that fails, it is done later. Raises nothing."""
        if error := await self._try(handle):
            self._log.warning("job_not_stopped", handle=handle, error=error)
            self._since.setdefault(handle, self._clock())
            self._some.set()

    def seek(self, job_id: str, *, may_appear: bool = True) -> None:
        """Have a job stopped of which nobody knows whether there is one. It is looked for until the
        scheduler has answered that it shows none: once, or if it `may_appear` yet, for minutes."""
        self._sought.setdefault(job_id, _Sought(self._clock(), may_appear))
        self._some.set()

    async def run(self) -> None:
        """Stop what is left, again and again. Never ends by itself."""
        pause_s = _FIRST_S
        while True:
            if not len(self):
                self._some.clear()
                await self._some.wait()
                pause_s = _FIRST_S
            await asyncio.sleep(jittered(pause_s))
            await self.look_for_all()
            await self.try_all()
            pause_s = min(pause_s * 2, _LONGEST_S) if len(self) else _FIRST_S

    async def look_for_all(self) -> None:
        """Look for each that is sought, until the scheduler fails. What is found is to be
        stopped."""
        for job_id, sought in list(self._sought.items()):
            del self._sought[job_id]
            try:
                handle = await self._launcher.find(job_id)
            except Exception as error:  # noqa: BLE001 (told; it ends nothing else)
                said = self._crashes.tell(error)
                if self._clock() - sought.since > _FOR_S:
                    self._log.error("job_not_found", job=job_id, error=said)
                else:
                    self._sought[job_id] = sought
                return
            self._crashes.end()
            if handle is not None:
                self._log.info("job_found", job=job_id, handle=handle)
                self._since.setdefault(handle, self._clock())
            elif (still := sought.not_shown(self._clock())) is not None:
                self._sought[job_id] = still

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
