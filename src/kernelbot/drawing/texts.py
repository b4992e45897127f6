"""Colours source code and compares files, which may have been written to make that slow."""

import hashlib
import json
from typing import Any

from kernelbot.drawing import text_process
from kernelbot.drawing.answers import ProgramAnswers
from kernelbot.drawing.kept_program import PooledProgram

_LIMIT_S = 1.5
_COLOURED_CHARACTERS = 60_000
_COLOURED_LINE = 2_000
_COMPARED_LINES = 20_000


class Texts:
    """For one event loop."""

    def __init__(self, patience_s: float = 3.0) -> None:
        """`patience_s`: nobody waits longer, the start and the turn included. What takes longer
        goes on, and is there for whoever asks again soon."""
        self._answers = ProgramAnswers(patience_s)
        # Each by itself, so that comparisons that take long keep no colours waiting.
        self._colours = PooledProgram(text_process.__name__)
        self._differences = PooledProgram(text_process.__name__)

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
        await self._answers.close()
        await self._colours.close()
        await self._differences.close()

    async def _ask(
        self, program: PooledProgram, request: dict[str, Any], asker: int | None
    ) -> list[str] | None:
        line = json.dumps(request).encode()
        key = hashlib.sha256(line).digest()

        async def fetch() -> tuple[bytes, bytes]:
            return line, b""

        answer = await self._answers.ask(program, key, fetch, _LIMIT_S, asker=asker)
        lines: list[str] | None = None if answer is None else json.loads(answer)
        return lines
