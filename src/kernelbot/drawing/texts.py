"""Colours source code and compares files, which may have been written to make that slow."""

import asyncio
import hashlib
import json
from collections import Counter, deque
from typing import Any

from cachetools import FIFOCache

from kernelbot.drawing import text_process
from kernelbot.drawing.kept_program import KeptProgram

_LIMIT_S = 1.5
_KEPT = 32
"""How many answers are kept for which nobody waited."""
_EACH = 3
"""How many requests of one person are answered or wait: others' don't wait for all of them."""
_SLOW = 1_000
_COLOURED_CHARACTERS = 60_000
_COLOURED_LINE = 2_000
_COMPARED_LINES = 20_000


class Texts:
    """For one event loop."""

    def __init__(self, patience_s: float = 3.0) -> None:
        """`patience_s`: nobody waits longer, the start and the turn included. What takes longer
        goes on, and is there for whoever asks again soon."""
        self._patience_s = patience_s
        # Each by itself, so that comparisons that take long keep no colours waiting.
        self._colours = KeptProgram(text_process.__name__)
        self._differences = KeptProgram(text_process.__name__)
        self._asked: dict[bytes, asyncio.Task[bytes | None]] = {}
        self._open: Counter[int] = Counter()
        """How many requests of each person have no answer yet."""
        self._ready = FIFOCache[bytes, bytes](_KEPT)
        self._slow: deque[bytes] = deque(maxlen=_SLOW)
        """The hashes of requests that got no answer in time: they aren't tried again."""

    async def coloured(
        self, code: str, file_name: str, *, asker: int | None = None
    ) -> list[str] | None:
        """Each line as HTML; None if that takes too long, or `asker` (an account; None: nobody in
        particular) has asked for too much at once."""
        longest = max(map(len, code.split("\n")))
        if len(code) > _COLOURED_CHARACTERS or longest > _COLOURED_LINE:
            return None
        request = {"code": code, "suffix": "." + file_name.rpartition(".")[2].lower()}
        return await self._ask(self._colours, request, asker)

    async def compared(
        self,
        before: str,
        after: str,
        names: tuple[str, str] = ("", ""),
        *,
        asker: int | None = None,
    ) -> list[str] | None:
        """The lines of a unified diff, none if nothing differs; None as for `coloured`."""
        if max(text.count("\n") for text in (before, after)) > _COMPARED_LINES:
            return None
        request = {"before": before, "after": after, "names": names}
        return await self._ask(self._differences, request, asker)

    async def close(self) -> None:
        """End the processes. Another request would begin another one."""
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)
        await self._colours.close()
        await self._differences.close()

    async def _ask(
        self, program: KeptProgram, request: dict[str, Any], asker: int | None
    ) -> list[str] | None:
        line = json.dumps(request).encode()
        key = hashlib.sha256(line).digest()
        answer = self._ready.pop(key, None)
        if answer is None:
            task = self._asked.get(key)
            if task is None:
                if key in self._slow or program.is_full:
                    return None
                if asker is not None and self._open[asker] >= _EACH:
                    return None
                task = asyncio.create_task(self._answer(program, key, line))
                self._asked[key] = task
                if asker is not None:
                    self._open[asker] += 1
                    task.add_done_callback(lambda _: self._answered(asker))
            await asyncio.wait({task}, timeout=self._patience_s)
            if not task.done():
                return None
            answer = self._ready.pop(key, None) or task.result()
        lines: list[str] | None = None if answer is None else json.loads(answer)
        return lines

    def _answered(self, asker: int) -> None:
        self._open[asker] -= 1
        if not self._open[asker]:
            del self._open[asker]

    async def _answer(self, program: KeptProgram, key: bytes, line: bytes) -> bytes | None:
        try:
            answer = await program.ask(line, _LIMIT_S)
        finally:
            del self._asked[key]
        if answer is None:
            self._slow.append(key)
            return None
        self._ready[key] = answer
        return answer
