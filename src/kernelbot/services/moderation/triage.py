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
from typing import Any

import structlog

from kernelbot.domain.types import Evidence

TIMEOUT_S = 10.0
_MAX_FINDINGS = 50
_MAX_TEXT = 1000
COMMAND = (sys.executable, "-P", "-m", "kernelguard", "--api-mode")
log = structlog.get_logger()


def is_installed() -> bool:
    """Whether kernelguard is installed."""
    return importlib.util.find_spec("kernelguard") is not None


async def examine(
    code: str, *, command: tuple[str, ...] = COMMAND, timeout_s: float = TIMEOUT_S
) -> tuple[Evidence, ...]:
    """What it noticed; nothing if it isn't installed, failed, or took too long (logged)."""
    if command is COMMAND and not is_installed():
        return ()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.defpath},  # so that it can't read our secrets
    )
    try:
        async with asyncio.timeout(timeout_s):
            answer, _ = await process.communicate(code.encode())
        return _read(json.loads(answer))
    except TimeoutError:
        log.warning("triage_took_too_long", timeout_s=timeout_s)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        log.warning("triage_failed", error=str(error)[:200], exit_code=process.returncode)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
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
