"""Our end of a process that answers requests."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process

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
