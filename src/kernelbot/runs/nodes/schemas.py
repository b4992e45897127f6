"""What schedulers' nodes send and are told."""

import json

from kernelbot.domain.errors import UserError
from kernelbot.protocol import ProgressEvent, VersionMismatch, WireError, from_wire
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class EventsReceived:
    """How many of a job's events have come, all in all."""

    received: int


def read_events(lines: bytes) -> tuple[ProgressEvent, ...]:
    """Progress as JSON lines. Raises `UserError` naming the first line that is none."""
    return tuple(_event(number, line) for number, line in enumerate(lines.splitlines(), 1))


def _event(number: int, line: bytes) -> ProgressEvent:
    try:
        return from_wire(ProgressEvent, json.loads(line))
    except (ValueError, RecursionError, WireError, VersionMismatch) as error:
        raise UserError(f"Line {number} is no progress event: {error}") from None
