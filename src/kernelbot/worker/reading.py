"""Reads what nodes have left, so that none of it holds up anybody else's judging."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

from kernelbot.drawing.kept_program import PooledProgram
from kernelbot.launchers.base import Left
from kernelbot.launchers.results import NoResult, read_small_result, too_long, zip_size
from kernelbot.protocol import JobSpec, RunResult, to_wire
from kernelbot.protocol.result_size import most_bytes
from kernelbot.worker.reading_format import decode_reading

_AT_ONCE = 4
_LIMIT_S = 20.0
"""For a result of the largest size on a busy machine; it takes a second on one that isn't."""
_PROGRAM = "kernelbot.worker.result_process"


class ResultReader:
    """Small results are read in a thread, the others in processes with limits, which are kept while
    they are asked. For one event loop."""

    def __init__(self, limit_s: float = _LIMIT_S) -> None:
        """`limit_s`: how long a process may read one result."""
        self._limit_s = limit_s
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._idle: list[PooledProgram] = []

    async def read(
        self, left: Left, job: JobSpec, within_s: float, *, of_next: bool = False
    ) -> RunResult:
        """Read a result as `read_result` does. Raises `NoResult`, also for what takes too long or
        too much memory."""
        if len(left.content) > zip_size(most_bytes(job)):
            raise NoResult(too_long(most_bytes(job)))
        small = partial(read_small_result, left, job, within_s, of_next=of_next)
        result = await asyncio.to_thread(small)
        if result is not None:
            return result
        line = await asyncio.to_thread(_request, left, job, within_s, of_next)
        async with self._program() as program:
            answer = await program.ask(line, self._limit_s, left.content)
        if answer is None:
            raise NoResult(
                "its result can't be read: that takes more than "
                f"{self._limit_s:.0f} s, or too much memory"
            )
        return await asyncio.to_thread(decode_reading, answer)

    async def close(self) -> None:
        """End the processes. Another result would begin another one."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(program.close() for program in idle))

    @contextlib.asynccontextmanager
    async def _program(self) -> AsyncIterator[PooledProgram]:
        """A program that nobody else asks meanwhile: who sends what takes long delays nobody."""
        async with self._free:
            program = self._idle.pop() if self._idle else PooledProgram(_PROGRAM)
            try:
                yield program
            except BaseException:
                await program.close()
                raise
            self._idle.append(program)


def _request(left: Left, job: JobSpec, within_s: float, of_next: bool) -> bytes:
    """The job without its texts and products, which say nothing of what a result may be."""
    bare = replace(
        job,
        problem=replace(job.problem, files=(), input_classes=""),
        submission=replace(job.submission, text=""),
        opponent=None if job.opponent is None else replace(job.opponent, text=""),
        product=None,
        opponent_product=None,
    )
    request = {
        "job": to_wire(bare),
        "within_s": within_s,
        "of_next": of_next,
        "zipped_as": left.zipped_as,
        "body_bytes": len(left.content),
    }
    return json.dumps(request).encode()
