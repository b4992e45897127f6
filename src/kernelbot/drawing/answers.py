"""Answers of programs that read strangers' files: nobody waits long, or asks for much at once."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable

from cachetools import FIFOCache, TTLCache

from kernelbot.drawing.kept_program import PooledProgram

_KEPT = 32
"""How many answers are kept for which nobody waited."""
_EACH = 3
"""How many requests of one person are answered or wait: others' don't wait for all of them."""
_FAILED = 1_000
_FAILED_S = 600.0
"""For so long nobody asks again for what has failed: that may have been the machine's fault."""
Fetch = Callable[[], Awaitable[tuple[bytes, bytes]]]
"""Fetches a request: its line, and what follows it."""


class ProgramAnswers:
    """For one event loop. Requests are named by keys: two with the same key are the same."""

    def __init__(self, patience_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`patience_s`: nobody waits longer, the start and the turn included. What takes longer
        goes on, and is there for whoever asks again soon. `clock`: in seconds."""
        self._patience_s = patience_s
        self._asked: dict[Hashable, asyncio.Task[bytes | None]] = {}
        self._open: Counter[int] = Counter()
        """How many requests of each person have no answer yet."""
        self._ready = FIFOCache[Hashable, bytes](_KEPT)
        self._failed = TTLCache[Hashable, None](_FAILED, _FAILED_S, clock)
        """Requests that got no answer in time."""

    async def ask(
        self,
        program: PooledProgram,
        key: Hashable,
        fetch: Fetch,
        limit_s: float,
        *,
        asker: int | None,
    ) -> bytes | None:
        """The program's answer to what `fetch` brings, which is called only if the program has room
        for it; None: it isn't there yet, it took longer than `limit_s`, or `asker` (an account;
        None: nobody in particular) has asked for too much at once. Raises what `fetch` does."""
        answer = self._ready.pop(key, None)
        if answer is not None:
            return answer
        task = self._asked.get(key)
        if task is None:
            if key in self._failed or program.is_full:
                return None
            if asker is not None and self._open[asker] >= _EACH:
                return None
            task = asyncio.create_task(self._answer(program, key, fetch, limit_s))
            self._asked[key] = task
            if asker is not None:
                self._open[asker] += 1
                task.add_done_callback(lambda _: self._answered(asker))
        await asyncio.wait({task}, timeout=self._patience_s)
        if not task.done():
            return None
        return self._ready.pop(key, None) or task.result()

    def is_waiting(self, key: Hashable) -> bool:
        """Whether the answer is on its way."""
        return key in self._asked

    def has_failed(self, key: Hashable) -> bool:
        """Whether it got no answer in time, so that it isn't tried again for a while."""
        return key in self._failed

    def refuse(self, key: Hashable) -> None:
        """Not ask for this again for a while: its answer was of no use."""
        self._failed[key] = None

    async def close(self) -> None:
        """Give up what has no answer yet."""
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)

    def _answered(self, asker: int) -> None:
        self._open[asker] -= 1
        if not self._open[asker]:
            del self._open[asker]

    async def _answer(
        self, program: PooledProgram, key: Hashable, fetch: Fetch, limit_s: float
    ) -> bytes | None:
        try:
            line, body = await fetch()
            if program.is_full:  # others came while this was fetched, which is no failure
                return None
            answer = await program.ask(line, limit_s, body)
        finally:
            del self._asked[key]
        if answer is None:
            self.refuse(key)
            return None
        self._ready[key] = answer
        return answer
