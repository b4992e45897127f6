"""Static triage: what `kernelguard`, if it is installed, finds in a source.

It reads hostile text with regular expressions, so it runs in a process of its own with a time
limit. What it finds is evidence for organisers, not a verdict.
"""

import asyncio
import contextlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any, Self

import structlog

from kernelbot.moderation.reviews.model import Evidence

TIMEOUT_S = 10.0
_MAX_FINDINGS = 50
_MAX_TEXT = 1000
_ANSWER_BYTES = 16 << 20
COMMAND = (sys.executable, "-P", str(Path(__file__).with_name("triage_process.py")))
"""By its path: by its name, Python would load all services before it."""
log = structlog.get_logger()


def is_installed() -> bool:
    """Whether kernelguard is installed."""
    return importlib.util.find_spec("kernelguard") is not None


class Triage:
    """Shows sources to kernelguard, one after the other. Its process starts with the first of them,
    again after one that it failed at, and ends with the block."""

    def __init__(
        self, command: tuple[str, ...] | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        """`command`: None for kernelguard, if it is installed."""
        self._command = COMMAND if command is None and is_installed() else command
        self._timeout_s = timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def examine(self, code: str) -> tuple[Evidence, ...]:
        """What it noticed; nothing if it isn't installed, failed, or took too long (logged)."""
        if self._command is None:
            return ()
        async with self._turn:
            try:
                async with asyncio.timeout(self._timeout_s):
                    return _read(json.loads(await self._ask(self._command, code)))
            except TimeoutError:
                log.warning("triage_took_too_long", timeout_s=self._timeout_s)
            except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
                log.warning("triage_failed", error=str(error)[:200])
            except asyncio.CancelledError:
                await self._end()  # its answer would be taken for that to the next source
                raise
            await self._end()
        return ()

    async def _ask(self, command: tuple[str, ...], code: str) -> bytes:
        """Empty if it ended. Raises `ValueError` for a line that is too long, and `OSError`."""
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={"PATH": os.defpath},  # so that it can't read our secrets
                limit=_ANSWER_BYTES,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(code).encode() + b"\n")
        await self._process.stdin.drain()
        return await self._process.stdout.readline()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _read(answer: Any) -> tuple[Evidence, ...]:
    """Raises ValueError, TypeError, KeyError or AttributeError for what isn't its answer."""
    return tuple(
        Evidence(
            "kernelguard",
            str(found["pattern"])[:_MAX_TEXT],
            str(found["severity"])[:_MAX_TEXT],
            str(found["evidence"])[:_MAX_TEXT],
        )
        for found in answer["matched_patterns"][:_MAX_FINDINGS]
    )
