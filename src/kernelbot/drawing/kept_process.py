"""Our end of the process that draws."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process

from kernelbot.drawing import process as program

_IDLE_S = 120.0
"""It keeps its memory no longer than that after a chart."""


class NotDrawn(Exception):
    """The library's reason why a document is no chart."""


class DrawingProcess:
    """Draws one chart at a time."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.charts = 0
        """How many it was asked for."""

    @classmethod
    async def start(cls) -> "DrawingProcess":
        """A new one, which ends with us: its input ends then. In a session of its own, so that
        Ctrl-C in a terminal doesn't reach it."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", program.__name__, str(_IDLE_S)),
            stdin=PIPE,
            stdout=PIPE,
            start_new_session=True,
        )
        return cls(process)

    async def draw(self, request: bytes) -> bytes:
        """The picture that a line asks for. Raises `NotDrawn`, and `EOFError` if the process has
        ended. If this is cancelled, nothing further can be asked for."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None, "it was started with a pipe"
        assert answers is not None, "it was started with a pipe"
        self.charts += 1
        try:
            requests.write(request + b"\n")
            await requests.drain()
            kind, _, size = (await answers.readuntil()).partition(b" ")
            content = await answers.readexactly(int(size))
        except ConnectionError:
            raise EOFError from None
        if kind == b"error":
            raise NotDrawn(content.decode("utf-8", "replace"))
        return content

    async def end(self) -> None:
        """Return once it has ended."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
