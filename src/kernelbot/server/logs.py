"""Structured logs on stderr: for people on a terminal, JSON lines elsewhere."""

import io
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import structlog

from kernelbot.render.text import printable
from kernelbot.server.thinning import ThinnedEvents, ThinnedRecords, Thinning

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
