"""In the runner, beside the author's code: which of Python's functions called which, and when."""

import gzip
import json
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

MOST_CALLS = 100_000
"""Later ones aren't in the trace."""
_MAX_NAME = 200


def python_trace(function: Callable[..., Any], arguments: tuple[Any, ...], times: int) -> bytes:
    """A trace of so many calls in Chrome's format, gzipped. To note a call takes time, so that
    small functions look slower than they are."""
    recorder = _Recorder()
    sys.setprofile(recorder.note)
    try:
        for _ in range(times):
            function(*arguments)
    finally:
        sys.setprofile(None)
    return gzip.compress(json.dumps({"traceEvents": recorder.events()}).encode(), 6)


class _Recorder:
    """Notes when functions begin and end. It is what `sys.setprofile` takes."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int]] = []
        self._ended: list[tuple[str, int, int]] = []

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        """A function has begun or ended."""
        now_ns = time.perf_counter_ns()
        if event == "call":
            code = frame.f_code
            file = code.co_filename.rpartition("/")[2]
            self._open.append((f"{code.co_qualname} ({file}:{code.co_firstlineno})", now_ns))
        elif event == "c_call":
            if argument is not sys.setprofile:  # the end of the trace, which is never told
                self._open.append((_name_of(argument), now_ns))
        elif self._open:  # else it had begun before the trace
            self._end(now_ns)
            if len(self._ended) >= MOST_CALLS:
                sys.setprofile(None)

    def events(self) -> list[dict[str, Any]]:
        """All calls; those that haven't ended end now."""
        now_ns = time.perf_counter_ns()
        while self._open:
            self._end(now_ns)
        first_ns = min((began for _, began, _ in self._ended), default=0)
        return [
            {
                "ph": "X",
                "cat": "python_function",
                "name": name[:_MAX_NAME],
                "pid": 1,
                "tid": 1,
                "ts": (began_ns - first_ns) / 1e3,
                "dur": (ended_ns - began_ns) / 1e3,
            }
            for name, began_ns, ended_ns in self._ended
        ]

    def _end(self, now_ns: int) -> None:
        name, began_ns = self._open.pop()
        self._ended.append((name, began_ns, now_ns))


def _name_of(builtin: Any) -> str:
    """A function in C, by its module or its class."""
    owner = getattr(builtin, "__module__", None)
    name = getattr(builtin, "__qualname__", None) or getattr(builtin, "__name__", "?")
    return f"{owner}.{name}" if owner else str(name)
