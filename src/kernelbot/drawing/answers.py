"""Answers of programs that read strangers' files: nobody waits long, or asks for much at once."""

import asyncio
from collections import Counter, deque
from collections.abc import Hashable

from cachetools import FIFOCache

from kernelbot.drawing.kept_program import KeptProgram

_KEPT = 32
"""How many answers are kept for which nobody waited."""
_EACH = 3
"""How many requests of one person are answered or wait: others' don't wait for all of them."""
_SLOW = 1_000


class Answers:
    """For one event loop. Requests are named by keys: two with the same key are the same."""

    def __init__(self, patience_s: float) -> None:
        """`patience_s`: nobody waits longer, the start and the turn included. What takes longer
        goes on, and is there for whoever asks again soon."""
        self._patience_s = patience_s
        self._asked: dict[Hashable, asyncio.Task[bytes | None]] = {}
        self._open: Counter[int] = Counter()
        """How many requests of each person have no answer yet."""
        self._ready = FIFOCache[Hashable, bytes](_KEPT)
        self._slow: deque[Hashable] = deque(maxlen=_SLOW)
        """Requests that got no answer in time: they aren't tried again."""

    async def ask(
        self,
        program: KeptProgram,
        key: Hashable,
        line: bytes,
        limit_s: float,
        *,
        asker: int | None,
        body: bytes = b"",
    ) -> bytes | None:
        """The program's answer to a line and what follows it; None: it isn't there yet, it took
        longer than `limit_s`, or `asker` (an account; None: nobody in particular) has asked for too
        much at once."""
        answer = self._ready.pop(key, None)
        if answer is not None:
            return answer
        task = self._asked.get(key)
        if task is None:
            if key in self._slow or program.is_full:
                return None
            if asker is not None and self._open[asker] >= _EACH:
                return None
            task = asyncio.create_task(self._answer(program, key, line, limit_s, body))
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
        """Whether it got no answer in time, so that it isn't tried again."""
        return key in self._slow

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
        self, program: KeptProgram, key: Hashable, line: bytes, limit_s: float, body: bytes
    ) -> bytes | None:
        try:
            answer = await program.ask(line, limit_s, body)
        finally:
            del self._asked[key]
        if answer is None:
            self._slow.append(key)
            return None
        self._ready[key] = answer
        return answer
