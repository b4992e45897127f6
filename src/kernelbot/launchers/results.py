"""What a node's `result.json` says, read with suspicion: it came over somebody else's machines."""

import json
from collections.abc import AsyncIterator, Mapping

from kernelbot.launchers.base import JobState, Left, Outcome
from kernelbot.launchers.zipped import BadArchive, read_file
from kernelbot.protocol import (
    Fault,
    JobSpec,
    ProgressEvent,
    RunResult,
    VersionMismatch,
    WireError,
    from_wire,
)
from kernelbot.protocol.result_rules import held_to
from kernelbot.protocol.result_size import MAX_BYTES, most_bytes
from kernelbot.protocol.several_results import next_result, own_result
from kernelbot.protocol.workload_rules import Disagrees

MAX_REASON = 500
_SMALL_BYTES = 256 << 10
_SMALL_PARTS = 2000
"""Lists and objects: an honest result has a few of them for each workload."""
_ZIP_BYTES = 1 << 16
"""What a zip may have beside what it holds, which may not be compressible."""


class NoResult(Exception):
    """What a node has left is no result of its job, and why: that is never the author's fault."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason[:MAX_REASON])


def lost(reason: str, fault: Fault = Fault.PLATFORM) -> Outcome:
    """No result, and why, in words short enough for a person."""
    return Outcome(JobState.LOST, reason=reason[:MAX_REASON], fault=fault)


def found(content: bytes, most: int, zipped_as: str = "") -> Outcome:
    """Finished, with what the node has left; lost if that has more than `most` bytes."""
    allowed = most + _ZIP_BYTES if zipped_as else most
    if len(content) > allowed:
        return lost(too_long(most))
    return Outcome(JobState.FINISHED, Left(content, zipped_as))


def too_long(most: int) -> str:
    """Why a result of more than so many bytes isn't read."""
    return f"its result can't be read: it has more than {most >> 20} MiB"


def size_of(handle: str, most_bytes_of: Mapping[str, int]) -> int:
    """How many bytes a job's result may have."""
    return min(most_bytes_of.get(handle, MAX_BYTES), MAX_BYTES)


def zip_size(most: int) -> int:
    """How many bytes the zip of a result may have."""
    return most + _ZIP_BYTES


async def no_events() -> AsyncIterator[tuple[ProgressEvent, ...]]:
    """The state of a launcher's job without live progress."""
    nothing: tuple[tuple[ProgressEvent, ...], ...] = ()
    for batch in nothing:
        yield batch


def read_result(left: Left, job: JobSpec, within_s: float, *, of_next: bool = False) -> RunResult:
    """The result of this very job, whose attempt took `within_s` seconds at most; see `held_to`.
    `of_next`: of the job that follows it.

    May take long and much memory for what was made for that: see `worker.reading`. Raises
    `NoResult`.
    """
    return _read(_unpacked(left, most_bytes(job)), job, within_s, of_next)


def is_small(left: Left) -> bool:
    """Whether it may be one that `read_small_result` reads."""
    return len(left.content) <= _SMALL_BYTES


def read_small_result(
    left: Left, job: JobSpec, within_s: float, *, of_next: bool = False
) -> RunResult | None:
    """The same within milliseconds; None for what may take longer: it is large, or holds more
    lists and objects than a result that is small. Raises `NoResult`."""
    content = None
    if is_small(left):
        content = _unpacked(left, most_bytes(job), read=_SMALL_BYTES)
    if content is None or len(content) > _SMALL_BYTES:
        return None
    if content.count(b"[") + content.count(b"{") > _SMALL_PARTS:
        return None
    return _read(content, job, within_s, of_next)


def _read(content: bytes, job: JobSpec, within_s: float, of_next: bool) -> RunResult:
    try:
        value = json.loads(content)
        value = next_result(value) if of_next else own_result(value, job)
        result = from_wire(RunResult, value)
    except (ValueError, RecursionError, WireError, VersionMismatch) as error:
        raise NoResult(f"its result can't be read: {error}") from None
    if of_next:
        assert job.next_job is not None, "only who knows of one asks for its result"
        job = job.next_job
    if result.attempt_lost and result.job_id in ("", job.job_id):  # empty: it couldn't read the job
        raise NoResult(result.failure.message if result.failure else "the node doesn't say why")
    try:
        return held_to(job, result, within_s)
    except Disagrees as error:
        raise NoResult(f"what its node sent can't be its result: {error}") from None


def _unpacked(left: Left, most: int, read: int | None = None) -> bytes:
    """At most a byte more than `read` of it (None: than `most`) if it is packed. Raises
    `NoResult` if it is longer than `most`."""
    content: bytes | None = left.content
    if left.zipped_as:
        try:
            content = read_file(left.content, left.zipped_as, most if read is None else read)
        except BadArchive as error:
            raise NoResult(f"its result can't be read: {error}") from None
    if content is None:
        raise NoResult(f"its artifact has no {left.zipped_as}")
    if len(content) > most:
        raise NoResult(too_long(most))
    return content
