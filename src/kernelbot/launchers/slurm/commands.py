"""Commands of the cluster, here or behind a prefix: each with a time-out and a bound on what it may
answer, and never as a line for a shell of ours."""

import asyncio
import contextlib
import os
import shlex
import signal
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass
from pathlib import Path

from kernelbot.domain.errors import SchedulerError
from kernelbot.protocol.environment import passed_on

_AT_ONCE = 8
_CHUNK = 1 << 16
_MAX_ANSWER_BYTES = 16 << 20
_MAX_ERRORS_BYTES = 1 << 16
_OURS = ("SLURM_CONF", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "KRB5CCNAME", "USER", "LOGNAME")
_SHELLS = frozenset(("ssh", "autossh"))
"""These join their arguments and have a shell at the other end read them."""


class TooMuch(SchedulerError):
    """A command answered more than it may."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        """What it said, however it is encoded."""
        return self.output.decode("utf-8", "replace")


class Commands:
    """Runs them, a few at once."""

    def __init__(self, prefix: tuple[str, ...], timeout_s: float) -> None:
        self._prefix = prefix
        self._timeout_s = timeout_s
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def run(
        self, *words: str, stdin: bytes = b"", max_bytes: int = _MAX_ANSWER_BYTES
    ) -> Ended:
        """Run one to its end; its exit code is the caller's to judge. Raises `SchedulerError` if it
        can't be started or doesn't end in time, `TooMuch`."""
        async with self._free:
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._command(words),
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=PIPE,
                    env=_environment(),
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise SchedulerError(f"{words[0]} can't be started: {error}") from error
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await _talk(process, words[0], stdin, max_bytes)
            except TimeoutError:
                raise SchedulerError(
                    f"{words[0]} didn't answer within {self._timeout_s:.0f} s."
                ) from None
            finally:
                await _end(process)

    def _command(self, words: tuple[str, ...]) -> tuple[str, ...]:
        if self._prefix and Path(self._prefix[0]).name in _SHELLS:
            return (*self._prefix, shlex.join(words))
        return (*self._prefix, *words)


def _environment() -> dict[str, str]:
    """No secret of ours goes to a program that is told to export what it was given."""
    return {**passed_on(os.environ), **{n: os.environ[n] for n in _OURS if n in os.environ}}


async def _talk(process: Process, name: str, stdin: bytes, max_bytes: int) -> Ended:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    _, output, errors = await asyncio.gather(
        _write(process.stdin, stdin),
        _read(process.stdout, max_bytes + 1),
        _read(process.stderr, _MAX_ERRORS_BYTES),
    )
    if len(output) > max_bytes:
        raise TooMuch(f"{name} answered more than {max_bytes >> 20} MiB.")
    code = await process.wait()
    return Ended(code, output, errors.decode("utf-8", "replace").strip())


async def _write(stream: asyncio.StreamWriter, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(content)
        await stream.drain()
    stream.close()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        await stream.wait_closed()


async def _read(stream: asyncio.StreamReader, most: int) -> bytes:
    """Up to its end, or so much."""
    chunks: list[bytes] = []
    left = most
    while left > 0 and (chunk := await stream.read(min(left, _CHUNK))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


async def _end(process: Process) -> None:
    """The whole group: a prefix may have started more."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
