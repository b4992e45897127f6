"""Colours source code and compares files, which may have been written to make that slow."""

import asyncio
import hashlib
import json
from collections import deque
from typing import Any

from kernelbot.drawing import text_process
from kernelbot.drawing.kept_program import KeptProgram

_LIMIT_S = 1.5
_PATIENCE_S = 3.0
"""The wait for its turn included: nobody waits longer for colours."""
_SLOW = 1_000
_COLOURED_CHARACTERS = 60_000
_COLOURED_LINE = 2_000
_COMPARED_LINES = 20_000


class Texts:
    """For one event loop."""

    def __init__(self) -> None:
        self._program = KeptProgram(text_process.__name__)
        self._slow: deque[bytes] = deque(maxlen=_SLOW)
        """The hashes of requests that got no answer in time: they aren't tried again."""

    async def coloured(self, code: str, file_name: str) -> list[str] | None:
        """Each line as HTML; None if that takes too long."""
        longest = max(map(len, code.split("\n")))
        if len(code) > _COLOURED_CHARACTERS or longest > _COLOURED_LINE:
            return None
        request = {"code": code, "suffix": "." + file_name.rpartition(".")[2].lower()}
        return await self._ask(request)

    async def compared(
        self, before: str, after: str, names: tuple[str, str] = ("", "")
    ) -> list[str] | None:
        """The lines of a unified diff, none if nothing differs; None if it takes too long."""
        if max(text.count("\n") for text in (before, after)) > _COMPARED_LINES:
            return None
        return await self._ask({"before": before, "after": after, "names": names})

    async def close(self) -> None:
        """End the process. Another request would begin another one."""
        await self._program.close()

    async def _ask(self, request: dict[str, Any]) -> list[str] | None:
        line = json.dumps(request).encode()
        key = hashlib.sha256(line).digest()
        if key in self._slow or self._program.is_full:
            return None
        try:
            async with asyncio.timeout(_PATIENCE_S):
                answer = await self._program.ask(line, _LIMIT_S)
        except TimeoutError:  # for others' sake: it may be quick
            return None
        if answer is None:
            self._slow.append(key)
            return None
        lines: list[str] = json.loads(answer)
        return lines
