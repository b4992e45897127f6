"""Progress, as the harness writes it next to its result: fetched for all jobs that run at once."""

import json
from collections.abc import Iterable

from kernelbot.protocol import ProgressEvent, VersionMismatch, WireError, from_wire

_MAX_BYTES = 1 << 16
"""Of one job, each time."""
# Nothing but these words is read by a shell; what follows are its arguments.
_FETCH = (
    'while [ "$#" -gt 1 ]; do printf "== %s\\n" "$1"; '
    f'tail -c +"$2" -- "$1/events.jsonl" 2>/dev/null | head -c {_MAX_BYTES}; '
    'printf "\\n"; shift 2; done; printf "== \\n"'
)
_SECTION = b"\n== "


class Progress:
    """How far each job's file was read."""

    def __init__(self) -> None:
        self._read: dict[str, int] = {}

    def begin(self, attempt: str) -> None:
        """This process has launched it, so all of its progress is news."""
        self._read.setdefault(attempt, 0)

    def forget(self, attempt: str) -> None:
        """It is over."""
        self._read.pop(attempt, None)

    def command(self, attempts: Iterable[str], folder: str) -> tuple[str, ...]:
        """What fetches the news of the attempts, whose folders are in `folder`."""
        words = [
            word
            for attempt in attempts
            for word in (f"{folder}/{attempt}", str(self._read.get(attempt, 0) + 1))
        ]
        return ("sh", "-c", _FETCH, "sh", *words)

    def take(self, answer: bytes) -> dict[str, tuple[ProgressEvent, ...]]:
        """By attempt what is new in the answer. Of a job that another process launched the first
        answer is none: somebody was told before."""
        found = {}
        for section in (b"\n" + answer).split(_SECTION)[1:]:
            head, _, body = section.partition(b"\n")
            attempt = head.decode("utf-8", "replace").rpartition("/")[2]
            whole = body[: body.rfind(b"\n") + 1]
            if attempt and whole:
                known = attempt in self._read
                self._read[attempt] = self._read.get(attempt, 0) + len(whole)
                found[attempt] = tuple(_events(whole)) if known else ()
        return found


def _events(lines: bytes) -> Iterable[ProgressEvent]:
    """Those that can be read: progress informs, and only that."""
    for line in lines.splitlines():
        try:
            yield from_wire(ProgressEvent, json.loads(line))
        except (ValueError, RecursionError, WireError, VersionMismatch):
            continue
