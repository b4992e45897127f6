"""Structured logs on stderr: for people on a terminal, JSON lines elsewhere."""

import io
import logging
import sys
from typing import Any, TextIO

import structlog

from kernelbot.render.text import printable
from kernelbot.server.thinning import ThinnedEvents, ThinnedRecords, Thinning


def set_up_logs(*, json: bool | None = None, level: int = logging.INFO) -> None:
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
        wrapper_class=structlog.make_filtering_bound_logger(level),
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
