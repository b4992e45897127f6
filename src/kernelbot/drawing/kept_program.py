"""Asks one of the programs beside this, in a process that is kept for the next requests."""

import asyncio

import structlog

from kernelbot.drawing.kept_process import NotAnswered, PooledProcess

_AT_ONCE = 16
"""How many requests may wait or be answered; more are refused, so that nobody can pile them up."""
_START_S = 20.0
_REQUESTS = 500
"""How many a process answers before another takes its place."""
log = structlog.get_logger()


class PooledProgram:
    """Answers requests one after another. The process ends by itself if none comes; one that takes
    too long is ended. For one event loop."""

    def __init__(self, name: str) -> None:
        """`name`: the program's module."""
        self._name = name
        self._turn = asyncio.Lock()
        self._asked = 0
        self._kept: PooledProcess | None = None

    @property
    def is_full(self) -> bool:
        """Whether a further request would be refused."""
        return self._asked >= _AT_ONCE

    async def ask(self, request: bytes, limit_s: float, body: bytes = b"") -> bytes | None:
        """The answer to a line, and what follows it; None without one: too many requests wait, or
        it failed, which the log says. `limit_s`: how long the answer may take, once the program has
        started and it is its turn."""
        if self.is_full:
            return None
        self._asked += 1
        why = ""
        try:
            async with self._turn:
                return await self._answer(request, limit_s, body)
        except TimeoutError:
            why = "it took too long"
        except NotAnswered as error:
            why = str(error)[-500:]
        except EOFError:
            why = "the process ended"
        finally:
            self._asked -= 1
        log.warning("program_gave_no_answer", program=self._name, error=why)
        return None

    async def close(self) -> None:
        """End the process. Another request would begin another one."""
        kept, self._kept = self._kept, None
        if kept is not None:
            await kept.end()

    async def _answer(self, request: bytes, limit_s: float, body: bytes) -> bytes:
        kept, self._kept = self._kept, None
        if kept is not None:
            try:
                return await self._answer_of(kept, request, limit_s, body)
            except EOFError:
                pass  # it had nothing to do for long, or was killed: a new one answers
        async with asyncio.timeout(_START_S):
            started = await PooledProcess.start(self._name)
        return await self._answer_of(started, request, limit_s, body)

    async def _answer_of(
        self, process: PooledProcess, request: bytes, limit_s: float, body: bytes
    ) -> bytes:
        """Keeps the process, unless it has answered enough, has ended, or is still at work."""
        usable = False
        try:
            async with asyncio.timeout(limit_s):
                answer = await process.ask(request, body)
            usable = process.requests < _REQUESTS
            return answer
        except NotAnswered:
            usable = True
            raise
        finally:
            if usable:
                self._kept = process
            else:
                await process.end()
