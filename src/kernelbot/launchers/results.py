"""What a node's `result.json` says, read with suspicion: it came over somebody else's machines."""

import json
from collections.abc import AsyncIterator

from kernelbot.launchers.base import JobState, Outcome
from kernelbot.protocol import (
    Fault,
    ProgressEvent,
    RunResult,
    VersionMismatch,
    WireError,
    from_wire,
)

MAX_RESULT_BYTES = 128 << 20
"""More is no result: the harness bounds artifacts and output to less than half of it."""
MAX_REASON = 500


def lost(reason: str, fault: Fault = Fault.PLATFORM) -> Outcome:
    """No result, and why, in words short enough for a person."""
    return Outcome(JobState.LOST, reason=reason[:MAX_REASON], fault=fault)


async def no_events() -> AsyncIterator[tuple[ProgressEvent, ...]]:
    """Of a launcher without live progress."""
    nothing: tuple[tuple[ProgressEvent, ...], ...] = ()
    for batch in nothing:
        yield batch


def read_result(content: bytes, job_id: str) -> Outcome:
    """Finished, if the content is the result of this very job; else lost."""
    if len(content) > MAX_RESULT_BYTES:
        return lost(f"its result has more than {MAX_RESULT_BYTES >> 20} MiB")
    try:
        result = from_wire(RunResult, json.loads(content))
    except (ValueError, RecursionError, WireError, VersionMismatch) as error:
        return lost(f"its result can't be read: {error}")
    why = result.failure.message if result.failure else "the node doesn't say why"
    if result.attempt_lost and result.job_id in ("", job_id):  # empty: it couldn't read the job
        return lost(why)
    if result.job_id != job_id:
        return lost(f"the node answered with the result of another job, {result.job_id[:80]!r}")
    return Outcome(JobState.FINISHED, result)
