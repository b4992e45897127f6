"""Leaves repeated lines out of a log: else anyone who causes warnings could fill the disk."""

import logging
import time
from dataclasses import dataclass
from typing import Any

import structlog

_WITHIN_S = 10.0
_LINES = 20
"""Maximum of lines of one kind within that time."""
_KINDS = 1000
_LOUD = frozenset({"warning", "error", "critical"})


@dataclass
class _LineKind:
    since_s: float
    lines: int = 0
    left_out: int = 0


class Thinning:
    """Counts lines by kind: their text without the values in it."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str], _LineKind] = {}

    def left_out_before(self, source: str, words: str) -> int | None:
        """How many such lines were left out since the last one; None: leave this one out."""
        name = (source, words)
        now_s = time.monotonic()
        found = self._kinds.get(name)
        if found is None or now_s - found.since_s > _WITHIN_S:
            left_out = found.left_out if found else 0
            if len(self._kinds) >= _KINDS:
                self._kinds.clear()  # with so many kinds nothing repeats: then write them
            self._kinds[name] = _LineKind(now_s, lines=1)
            return left_out
        if found.lines >= _LINES:
            found.left_out += 1
            return None
        found.lines += 1
        return 0


class ThinnedEvents:
    """The processor for our own lines. Lines below warning, such as one per request, all stay."""

    def __init__(self, thinning: Thinning) -> None:
        self._thinning = thinning

    def __call__(
        self, _logger: Any, method: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        """The event, or `DropEvent`."""
        if method not in _LOUD:
            return event
        left_out = self._thinning.left_out_before("kernelbot", str(event.get("event")))
        if left_out is None:
            raise structlog.DropEvent
        return {**event, "left_out_before": left_out} if left_out else event


class ThinnedRecords(logging.Filter):
    """The filter for the lines of libraries."""

    def __init__(self, thinning: Thinning) -> None:
        super().__init__()
        self._thinning = thinning

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        left_out = self._thinning.left_out_before(record.name, str(record.msg))
        if left_out:
            record.msg = f"{record.msg} ({left_out} such lines were left out before)"
        return left_out is not None
