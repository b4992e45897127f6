"""In the runner, beside the author's code: the framework's own profiler, and calls in a row."""

import cProfile
import gzip
import io
import os
import pstats
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelbot.harness.inside.profiling.python_trace import python_trace

CALLS = 5
MAX_TEXT = 200_000
_ROWS = 30
_REPEAT_S = 0.2
_MAX_REPEATS = 100_000


def profile(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, bytes]:
    """A table, and a trace in Chrome's format, gzipped: of PyTorch's operators if torch is loaded,
    else of Python's functions."""
    function(*arguments)
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return _python_profile(function, arguments), python_trace(function, arguments, CALLS)
    activities, order = [torch.profiler.ProfilerActivity.CPU], "self_cpu_time_total"
    if _uses_gpu(torch):
        activities.append(torch.profiler.ProfilerActivity.CUDA)
        order = "self_device_time_total"
    with torch.profiler.profile(activities=activities) as taken:
        for _ in range(CALLS):
            function(*arguments)
    table = taken.key_averages().table(sort_by=order, row_limit=_ROWS)
    trace = Path(f"trace-{os.getpid()}.json")  # ranks share their folder
    taken.export_chrome_trace(str(trace))
    return str(table)[:MAX_TEXT], gzip.compress(trace.read_bytes(), 6)


def repeat(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    """Call for a fifth of a second, at least `CALLS` times; returns how often."""
    end = time.perf_counter() + _REPEAT_S
    calls = 0
    while calls < CALLS or (calls < _MAX_REPEATS and time.perf_counter() < end):
        function(*arguments)
        calls += 1
    return calls


def _uses_gpu(torch: Any) -> bool:
    """Whether CUDA is real: if it is emulated, torch says that it is available but not built in."""
    built = torch.version.cuda is not None or torch.version.hip is not None
    return built and bool(torch.cuda.is_available())


def _python_profile(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    profiler = cProfile.Profile()
    for _ in range(CALLS):
        profiler.runcall(function, *arguments)
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).sort_stats("cumulative").print_stats(_ROWS)
    return text.getvalue()[:MAX_TEXT]
