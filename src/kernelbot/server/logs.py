"""Structured logs on stderr: for people on a terminal, JSON lines elsewhere."""

import io
import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import structlog

from kernelbot.render.text import printable

_BEFORE = ".1"
"""Behind a log file's name: what was written until it was opened the last time."""


@contextmanager
def away_from_a_terminal(file: Path) -> Iterator[Path | None]:
    """While this lasts, what this process and those that it starts write to stderr goes to `file`,
    if stdout and stderr are terminals: who has sent one of them elsewhere is told of no file. Else
    it stays, and None is yielded. What was in the file has `.1` behind its name then. Raises
    `OSError` if it can't be written. A link isn't followed: it becomes `.1` itself. Set up logs
    within."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield None
        return
    if os.path.lexists(file):  # also a link that leads nowhere
        file.replace(file.with_name(file.name + _BEFORE))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    written = os.open(file, flags, 0o600)
    sys.stderr.flush()
    terminal = os.dup(sys.stderr.fileno())
    os.dup2(written, sys.stderr.fileno())
    os.close(written)
    try:
        yield file
    finally:
        sys.stderr.flush()
        os.dup2(terminal, sys.stderr.fileno())
        os.close(terminal)


def set_up_logs(*, json: bool | None = None) -> None:
    """Configure this process. `json` None: JSON unless stderr is a terminal."""
    as_json = not sys.stderr.isatty() if json is None else json
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(exception_formatter=_plain_traceback)
    )
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    shared.append(structlog.processors.format_exc_info if as_json else _printable)
    thinning = Thinning()
    structlog.configure(
        processors=[ThinnedEvents(thinning), *shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    handler.addFilter(ThinnedRecords(thinning))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)


def _printable(
    _logger: Any, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Make control characters visible: paths and names come from other people."""
    return {
        key: printable(value) if isinstance(value, str) else value for key, value in event.items()
    }


def _plain_traceback(stream: TextIO, error: structlog.typing.ExcInfo) -> None:
    """A traceback without local variables, which may hold tokens."""
    text = io.StringIO()
    structlog.dev.plain_traceback(text, error)
    stream.write(printable(text.getvalue()))


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
