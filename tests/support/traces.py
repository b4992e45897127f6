"""Traces in Chrome's format, as profilers write them and as nobody should."""

import gzip
import json
from collections.abc import Iterable
from typing import Any


def event(
    name: str, start_us: Any, duration_us: Any, *, category: str = "cpu_op", thread: Any = 1
) -> dict[str, Any]:
    """A call that has ended."""
    times = {"ts": start_us, "dur": duration_us}
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, **times}


def trace_of(events: Iterable[Any], **beside: Any) -> bytes:
    """A trace with these events, as PyTorch's profiler writes one."""
    document = {"schemaVersion": 1, **beside, "traceEvents": list(events), "traceName": "x"}
    return gzip.compress(json.dumps(document).encode(), mtime=0)
