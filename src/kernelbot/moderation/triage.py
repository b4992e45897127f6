"""Static triage: what `kernelguard`, if it is installed, finds in a source.

It reads hostile text with regular expressions, so it runs in a process of its own with limits,
which has none of our secrets. What it finds is evidence for organisers, not a verdict.
"""

import asyncio
import importlib.util
import json
from typing import Any, Self

import structlog

from kernelbot.drawing.kept_program import PooledProgram
from kernelbot.moderation.reviews.model import Evidence

TIMEOUT_S = 10.0
_MAX_FINDINGS = 50
_MAX_TEXT = 1000
_PROGRAM = "kernelbot.moderation.triage_process"
log = structlog.get_logger()


def is_installed() -> bool:
    return importlib.util.find_spec("kernelguard") is not None


class Triage:
    """Shows sources to kernelguard, one after the other. Its process starts with the first of them,
    again after one that it failed at or a while without any, and ends with the block."""

    def __init__(self, program: str | None = None, timeout_s: float = TIMEOUT_S) -> None:
        """`program`: the module of one that answers; None for kernelguard, if it is installed."""
        name = _PROGRAM if program is None and is_installed() else program
        self._program = None if name is None else PooledProgram(name)
        self._timeout_s = timeout_s
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._program is not None:
            await self._program.close()

    async def examine(self, code: str) -> tuple[Evidence, ...]:
        """What it noticed; nothing if it isn't installed, failed, or took too long (logged)."""
        if self._program is None:
            return ()
        request = json.dumps({"code": code}).encode()
        async with self._turn:  # all may wait: what isn't asked is examined by nobody
            answer = await self._program.ask(request, self._timeout_s)
        if answer is None:
            return ()
        try:
            return _read(json.loads(answer))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("triage_failed", error=str(error))
            return ()


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
