"""The worker's end of the process with Ray's package, which is started when it is first needed, and
again after its end: Ray ends a process that has lost its cluster."""

import asyncio
import contextlib
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.ray.messages import KeeperAnswer, KeeperQuestion
from kernelbot.launchers.ray.settings import RaySettings
from kernelbot.protocol.environment import passed_on

_MAX_ANSWER_BYTES = 256 << 20
_LAST_WORDS = 300
_END_S = 5.0


class RayProcess:
    """One question at a time. `harness`: the file that tasks run."""

    def __init__(self, settings: RaySettings, harness: Path) -> None:
        self._settings = settings
        self._harness = harness
        self._process: Process | None = None
        self._starting: asyncio.Task[Process] | None = None
        """A start whose end nobody has seen yet."""
        self._errors: IO[bytes] | None = None
        self._turn = asyncio.Lock()

    async def ask(self, question: KeeperQuestion) -> KeeperAnswer:
        """Raises `SchedulerError`. Cancelled during a start: that goes on for the next who asks."""
        async with self._turn:
            process = await self._started()
            try:
                answer = await self._exchange(process, question)
            except BaseException:  # what it says next would answer another question
                await self._end()
                raise
        if answer.error:
            raise SchedulerError(f"Ray: {answer.error}")
        return answer

    async def close(self) -> None:
        """End the process. Idempotent; a later question starts another."""
        async with self._turn:
            await self._end()

    async def _started(self) -> Process:
        if self._starting is None:
            if self._process is not None and self._process.returncode is None:
                return self._process
            await self._end()
            self._starting = asyncio.create_task(self._start(), name="start of Ray's process")
        await asyncio.wait([self._starting])  # which doesn't cancel it: see `ask`
        try:
            process = self._starting.result()
        except BaseException:
            await self._end()
            raise
        self._starting = None
        return process

    async def _start(self) -> Process:
        settings = self._settings
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # `_end` closes it
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "kernelbot.launchers.ray.child",
            settings.address,
            settings.namespace,
            str(self._harness),
            str(settings.timeout_s),
            stdin=PIPE,
            stdout=PIPE,
            stderr=self._errors,
            env={**passed_on(os.environ), "RAY_USAGE_STATS_ENABLED": "0"},
            limit=_MAX_ANSWER_BYTES,
            start_new_session=True,
        )
        await self._answer(self._process, settings.start_s)
        return self._process

    async def _exchange(self, process: Process, question: KeeperQuestion) -> KeeperAnswer:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # then it has no answer
            process.stdin.write(question.model_dump_json().encode() + b"\n")
            await process.stdin.drain()
        return await self._answer(process, 2 * self._settings.timeout_s)

    async def _answer(self, process: Process, limit_s: float) -> KeeperAnswer:
        assert process.stdout is not None
        try:
            async with asyncio.timeout(limit_s):
                line = await process.stdout.readline()
        except (TimeoutError, ValueError):
            raise SchedulerError(f"Ray didn't answer within {limit_s:.0f} s.") from None
        try:
            return KeeperAnswer.model_validate_json(line)
        except ValidationError:
            raise SchedulerError(f"Ray can't be reached: {self._last_words()}") from None

    def _last_words(self) -> str:
        assert self._errors is not None
        self._errors.seek(0)
        said = self._errors.read()[-4096:].decode("utf-8", "replace").strip()
        return said.splitlines()[-1][:_LAST_WORDS] if said else "its process has ended"

    async def _end(self) -> None:
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            await asyncio.wait([starting])
            if not starting.cancelled():
                starting.exception()  # else asyncio complains that nobody has asked for it
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_END_S):
                    await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
