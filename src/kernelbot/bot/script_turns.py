"""Whose script runs when."""

import asyncio
import contextlib
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from kernelbot.domain.errors import TooManyRequests
from kernelbot.render.units import wait_text
from kernelbot.runs.queue.model import ScriptRules

_HOUR_S = 3600.0
_SOON_S = 60.0


@dataclass
class _Queue:
    """The turns of one device; `present`: how many run or wait."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    present: int = 0


class ScriptQueue:
    """One script at a time on each device, in the order in which they came, so that a slow device
    delays nobody on another; one at once of each person, and so many an hour. Only one bot answers
    at a time, so it is counted in memory, from its start on."""

    def __init__(self, rules: ScriptRules, now_s: Callable[[], float] = time.monotonic) -> None:
        self._rules = rules
        self._now_s = now_s
        self._queues: defaultdict[str, _Queue] = defaultdict(_Queue)
        self._busy: set[int] = set()
        self._begun_s: dict[int, deque[float]] = {}

    @contextlib.asynccontextmanager
    async def turn(self, user_id: int, device: str) -> AsyncIterator[None]:
        """The person's turn on the device, for the block. Raises `TooManyRequests`."""
        queue = self._queues[device]
        self._admit(user_id, device, queue)
        self._busy.add(user_id)
        queue.present += 1
        try:
            async with queue.lock:
                yield
        finally:
            queue.present -= 1
            self._busy.discard(user_id)

    def _admit(self, user_id: int, device: str, queue: _Queue) -> None:
        """Count it for the hour, unless it is refused."""
        if user_id in self._busy:
            raise TooManyRequests(
                "A script of yours runs or waits already.",
                retry_after_s=_SOON_S,
                hint="Wait for its output.",
            )
        if queue.present > self._rules.waiting_limit:
            raise TooManyRequests(
                f"{self._rules.waiting_limit} scripts wait for {device} already.",
                retry_after_s=_SOON_S,
                hint="Try again in a few minutes.",
            )
        self._count(user_id)

    def _count(self, user_id: int) -> None:
        now_s, limit = self._now_s(), self._rules.per_hour
        begun_s = self._begun_s.setdefault(user_id, deque())
        while begun_s and begun_s[0] <= now_s - _HOUR_S:
            begun_s.popleft()
        if len(begun_s) >= limit:
            wait_s = begun_s[0] + _HOUR_S - now_s if begun_s else _HOUR_S
            raise TooManyRequests(
                f"Each person may run {limit} scripts an hour.",
                retry_after_s=wait_s,
                hint=f"Try again in {wait_text(wait_s)}." if limit else "",
            )
        begun_s.append(now_s)
