"""The program that reads profiles.

A process of its own: traces are large, an author may have made one that takes very long, and
reading can't be interrupted. A request has `text`, the report, and is followed by the trace, if
there is one. The answer is a `ReadProfile` as JSON.
"""

import gc
from typing import Any

from kernelbot.drawing.serving import serve
from kernelbot.schemas.values import to_json
from kernelbot.submissions.profiles.call_tree import tree_of
from kernelbot.submissions.profiles.flame_graph import flame_graph
from kernelbot.submissions.profiles.model import CallSide, FlameGraph, ReadProfile
from kernelbot.submissions.profiles.report_text import read_report
from kernelbot.submissions.profiles.trace import MOST_BYTES, MOST_EVENTS, NotATrace, read_trace

_MEMORY_BYTES = 1 << 30
"""Four bytes for each character of the largest trace, the trace itself, and its calls."""
_EXAMPLE = b'{"traceEvents": [{"ph": "X", "cat": "", "name": "\\u001b", "ts": 0, "dur": 1}]}'
"""A trace whose name can't be printed: to write it out takes a module of its own."""


def read_profile(text: str, trace: bytes) -> ReadProfile:
    """All of one workload. `trace`: empty if there is none."""
    kernels, sections = read_report(text)
    graphs: tuple[FlameGraph, ...] = ()
    note = ""
    if trace:
        try:
            graphs, note = _graphs(trace)
        except NotATrace as error:
            note = str(error)
        except MemoryError:
            note = "Reading the trace takes too much memory."
    return ReadProfile(kernels, graphs, sections, note)


def _graphs(trace: bytes) -> tuple[tuple[FlameGraph, ...], str]:
    found = read_trace(trace)
    trees = [(place, tree_of(found.calls[place])) for place in CallSide if place in found.calls]
    graphs = tuple(one for place, tree in trees if (one := flame_graph(place, tree)))
    if not graphs:
        return (), "The trace has no calls with a time."
    if found.is_whole:
        return graphs, ""
    most = f"{MOST_EVENTS:,} events, or {MOST_BYTES >> 20} MiB"
    return graphs, f"This is the beginning of the trace: it is damaged, or has more than {most}."


def _answer(request: dict[str, Any]) -> bytes:
    return to_json(ReadProfile, read_profile(request["text"], request.get("body", b"")))


if __name__ == "__main__":
    gc.disable()  # all calls of a trace live until it was read; looking through them takes time
    _answer({"text": "", "body": _EXAMPLE})  # loads all modules, while their files can be read
    serve(_answer, _MEMORY_BYTES, as_nobody=True)
