"""The programs that colour, draw and read profiles, each of which one process is for all sites of
a test session: to start one takes up to half a second of a processor."""

import asyncio
import atexit
import functools
import threading

from kernelbot.drawing.kept_program import PooledProgram


class SharedProgram(PooledProgram):
    """The real program, asked in an event loop that outlives those of tests."""

    async def ask(self, request: bytes, limit_s: float, body: bytes = b"") -> bytes | None:
        """As it is asked in a loop of its own."""
        answer = super().ask(request, limit_s, body)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(answer, _loop()))

    async def close(self) -> None:
        """Nothing: others go on to ask it."""

    async def end(self) -> None:
        """End the process, at last."""
        await super().close()


@functools.cache
def shared_program(module: str, purpose: str = "") -> SharedProgram:
    """The one of this session. A program with two purposes has a process for each."""
    program = SharedProgram(module)
    _begun().append(program)
    return program


@functools.cache
def _begun() -> list[SharedProgram]:
    return []


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="shared programs", daemon=True)
    thread.start()

    def end() -> None:
        for program in _begun():
            asyncio.run_coroutine_threadsafe(program.end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    atexit.register(end)
    return loop
