"""Commands of the cluster, here or behind a prefix: each with a time-out and a bound on what it may
answer, and never as a line for a shell of ours."""

import asyncio
import contextlib
import os
import shlex
import signal
import tempfile
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kernelbot.domain.errors import SchedulerError
from kernelbot.protocol.environment import passed_on

_AT_ONCE = 8
_CHUNK = 1 << 16
_DRAIN_S = 1.0
_MAX_ANSWER_BYTES = 16 << 20
_MAX_ERRORS_BYTES = 1 << 16
_OURS = ("SLURM_CONF", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "KRB5CCNAME", "USER", "LOGNAME")
_SHELLS = frozenset(("ssh", "autossh"))
"""These join their arguments and have a shell at the other end read them."""


class TooMuch(SchedulerError):
    """A command answered more than it may."""


class TooLate(SchedulerError):
    """A command didn't end in time, and was ended. `errors`: what it had said until then. Through
    ssh, what it has begun may go on at the other end."""

    def __init__(self, message: str, errors: str) -> None:
        super().__init__(message)
        self.errors = errors


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


class SlurmCommands:
    """Runs them, a few at once."""

    def __init__(self, prefix: tuple[str, ...], timeout_s: float) -> None:
        self._prefix = prefix
        self._timeout_s = timeout_s
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def run(
        self, *words: str, stdin: bytes = b"", max_bytes: int = _MAX_ANSWER_BYTES
    ) -> Ended:
        """Run one to its end; its exit code is the caller's to judge. Raises `SchedulerError` if it
        can't be started, `TooLate`, `TooMuch`."""
        async with self._free:
            # A file, because what ssh leaves in the background to share its connection keeps the
            # errors' descriptor open: a pipe would have no end.
            with tempfile.TemporaryFile() as errors:
                process = await self._start(words, errors)
                try:
                    async with asyncio.timeout(self._timeout_s):
                        output, code = await _talk(process, words[0], stdin, max_bytes)
                except TimeoutError:
                    raise TooLate(
                        f"{words[0]} didn't answer within {self._timeout_s:.0f} s.", _said(errors)
                    ) from None
                finally:
                    await _end(process)
                return Ended(code, output, _said(errors))

    async def _start(self, words: tuple[str, ...], errors: IO[bytes]) -> Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._command(words),
                stdin=PIPE,
                stdout=PIPE,
                stderr=errors,
                env=_environment(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise SchedulerError(f"{words[0]} can't be started: {error}") from error

    def _command(self, words: tuple[str, ...]) -> tuple[str, ...]:
        if self._prefix and Path(self._prefix[0]).name in _SHELLS:
            return (*self._prefix, shlex.join(words))
        return (*self._prefix, *words)


def _said(errors: IO[bytes]) -> str:
    errors.seek(0)
    return errors.read(_MAX_ERRORS_BYTES).decode("utf-8", "replace").strip()


def _environment() -> dict[str, str]:
    """No secret of ours goes to a program that is told to export what it was given."""
    return {**passed_on(os.environ), **{n: os.environ[n] for n in _OURS if n in os.environ}}


async def _talk(process: Process, name: str, stdin: bytes, max_bytes: int) -> tuple[bytes, int]:
    """The command's output and exit code."""
    assert process.stdin is not None
    assert process.stdout is not None
    writing = asyncio.create_task(_write(process.stdin, stdin))
    try:
        output = await _read(process.stdout, max_bytes + 1)
        if len(output) > max_bytes:
            raise TooMuch(f"{name} answered more than {max_bytes >> 20} MiB.")
        await writing  # some close their output and go on reading
        return output, await process.wait()
    finally:
        writing.cancel()


async def _write(stream: asyncio.StreamWriter, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(content)
        await stream.drain()
        stream.write_eof()


async def _read(stream: asyncio.StreamReader, most: int) -> bytes:
    """Up to its end, or so much."""
    chunks: list[bytes] = []
    left = most
    while left > 0 and (chunk := await stream.read(min(left, _CHUNK))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


async def _end(process: Process) -> None:
    """The whole group: a prefix may have started more. What nobody has read keeps a pipe open."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            while await process.stdout.read(_CHUNK):
                pass
            await process.wait()
