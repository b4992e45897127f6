"""Asks one of the programs beside this, in a process that is kept for the next requests."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process

import structlog

from kernelbot.drawing.serving import READY

_IDLE_S = 120.0
"""For how long after a request a process is kept for the next one."""
_PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "PYTHONPATH",
    "SSL_CERT_FILE",
    "FONTCONFIG_PATH",
)
"""Our variables that a kept process gets: the others hold tokens, and these programs read
strangers' texts."""


class NotAnswered(Exception):
    """The program's reason why a request has no answer."""


class PooledProcess:
    """Answers one request at a time."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.requests = 0
        """How many it has been sent."""

    @classmethod
    async def start(cls, program: str) -> "PooledProcess":
        """A new one, which ends with us: its input ends then. In a session of its own, so that
        Ctrl-C in a terminal doesn't reach it. `program`: a module that calls `serve`. Returns once
        it takes requests. Raises `EOFError` if it ends before."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", program, str(_IDLE_S)),
            stdin=PIPE,
            stdout=PIPE,
            start_new_session=True,
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        )
        started = cls(process)
        try:
            assert process.stdout is not None, "it was started with a pipe"
            await process.stdout.readuntil(READY)
        except BaseException:
            await started.end()
            raise
        return started

    async def ask(self, request: bytes, body: bytes = b"") -> bytes:
        """The answer to a line, and what follows it. Raises `NotAnswered`, and `EOFError` if the
        process has ended. If this is cancelled, nothing further can be asked for."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None, "it was started with a pipe"
        assert answers is not None, "it was started with a pipe"
        self.requests += 1
        try:
            requests.write(request + b"\n")
            if body:
                requests.write(body)
            await requests.drain()
            kind, _, size = (await answers.readuntil()).partition(b" ")
            content = await answers.readexactly(int(size))
        except ConnectionError:
            raise EOFError from None
        if kind == b"error":
            raise NotAnswered(content.decode("utf-8", "replace"))
        return content

    async def end(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


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
