"""Has profiles read, in a process that is kept for the next ones."""

import json
from collections.abc import Awaitable, Callable, Hashable

import structlog
from cachetools import FIFOCache

from kernelbot.drawing.answers import ProgramAnswers
from kernelbot.drawing.kept_program import PooledProgram
from kernelbot.schemas.values import from_json
from kernelbot.submissions.profiles.model import ReadProfile

_PROGRAM = "kernelbot.submissions.profiles.process"
_LIMIT_S = 15.0
"""For the largest trace that is read, on a busy machine."""
_MOST_BYTES = 500_000
"""An answer's largest size: a page has all of it, and our program makes no more of any files."""
_KEPT = 64
"""Most profiles that are kept, about 100 kB each: the files of a run never change."""
Fetch = Callable[[], Awaitable[tuple[str, bytes]]]
"""Fetches a report, and a trace, which may be empty."""
log = structlog.get_logger()


class ProfileReader:
    """For one event loop."""

    def __init__(self, patience_s: float = 5.0) -> None:
        """`patience_s`: nobody waits longer for a profile, which is read on."""
        self._answers = ProgramAnswers(patience_s)
        self._program = PooledProgram(_PROGRAM)
        self._kept = FIFOCache[Hashable, ReadProfile](_KEPT)

    async def read(self, key: Hashable, fetch: Fetch, *, asker: int) -> ReadProfile | None:
        """The profile that is named by `key`, for account `asker`; `fetch` is called if it has to
        be read and there is room for it. None: it isn't there yet (`is_waiting`), it can't be read
        now, or not for a while: reading takes too long or too much memory."""
        known = self._kept.get(key)
        if known is not None or self._answers.has_failed(key):
            return known

        async def request() -> tuple[bytes, bytes]:
            text, trace = await fetch()
            return json.dumps({"text": text, "body_bytes": len(trace)}).encode(), trace

        answer = await self._answers.ask(self._program, key, request, _LIMIT_S, asker=asker)
        if answer is None:
            return None
        if len(answer) > _MOST_BYTES:
            log.warning("profile_is_too_large", key=key, size_bytes=len(answer))
            self._answers.refuse(key)
            return None
        found = self._kept[key] = from_json(ReadProfile, answer)
        return found

    def is_waiting(self, key: Hashable) -> bool:
        """Whether it is being read."""
        return self._answers.is_waiting(key)

    async def close(self) -> None:
        """End the process. Another profile would begin another one."""
        await self._answers.close()
        await self._program.close()
