"""Progress, as the harness writes it next to its result: fetched for all jobs that run at once.

What a job has written is sent in base64, on a line of its own, so that it can't look like that of
another job.
"""

import base64
import binascii
import json
from collections.abc import Iterable

from kernelbot.protocol import ProgressEvent, VersionMismatch, WireError, from_wire

MOST_JOBS = 200
"""Most that one command may be about: its words, and what it answers, are bounded."""
_MAX_BYTES = 48 << 10
"""Most bytes read of one job's progress each time."""
_MOST_BYTES = 4 << 20
"""And in all: a judge tells of each test and workload once, and what a node says is a claim."""
# Nothing but these words is read by a shell; what follows are its arguments.
_FETCH = (
    'while [ "$#" -gt 0 ]; do printf "%s " "$1"; '
    f'tail -c +"$3" -- "$2/events.jsonl" 2>/dev/null | head -c {_MAX_BYTES} '
    '| base64 | tr -d "\\n"; '
    'printf "\\n"; shift 3; done'
)


class ProgressFiles:
    """How far each job's file was read."""

    def __init__(self) -> None:
        self._read: dict[str, int] = {}

    def begin(self, attempt: str) -> None:
        """Follow a job that this process has launched: all of its progress is news."""
        self._read.setdefault(attempt, 0)

    def forget(self, attempt: str) -> None:
        self._read.pop(attempt, None)

    def command(self, attempts: Iterable[str], folder: str) -> tuple[str, ...]:
        """What fetches the news of the attempts, whose folders are in `folder`."""
        words = [
            word
            for attempt in attempts
            if self._read.get(attempt, 0) < _MOST_BYTES
            for word in (attempt, f"{folder}/{attempt}", str(self._read.get(attempt, 0) + 1))
        ]
        return ("sh", "-c", _FETCH, "sh", *words)

    def take(self, answer: bytes) -> dict[str, tuple[ProgressEvent, ...]]:
        """By attempt what is new in the answer. Of a job that another process launched the first
        answer is none: somebody was told before."""
        found = {}
        for line in answer.splitlines():
            name, _, packed = line.partition(b" ")
            attempt, body = name.decode("utf-8", "replace"), _unpacked(packed)
            whole = body[: body.rfind(b"\n") + 1]
            if len(body) == _MAX_BYTES and not whole:
                whole = body  # the beginning of a line that is too long to be an event
            if attempt and whole:
                known = attempt in self._read
                self._read[attempt] = self._read.get(attempt, 0) + len(whole)
                found[attempt] = tuple(_events(whole)) if known else ()
        return found


def _unpacked(packed: bytes) -> bytes:
    """Nothing, if the cluster's answer is none."""
    try:
        return base64.b64decode(packed, validate=True)
    except binascii.Error:
        return b""


def _events(lines: bytes) -> Iterable[ProgressEvent]:
    """The events that can be read: progress informs, and only that."""
    for line in lines.splitlines():
        try:
            yield from_wire(ProgressEvent, json.loads(line))
        except (ValueError, RecursionError, WireError, VersionMismatch):
            continue
