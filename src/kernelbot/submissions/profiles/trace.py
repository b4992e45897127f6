"""Reads traces in Chrome's format, which authors' processes wrote: any of it may be made up.

Events are decoded one by one, so that a large trace needs the memory of its text and no more.
"""

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kernelbot.render.text import one_line
from kernelbot.submissions.profiles.model import CallKind, CallSide

MOST_BYTES = 64 << 20
"""The most of the unpacked text that is read."""
MOST_EVENTS = 300_000
_MOST_US = 1e17
"""Larger than any time in microseconds since 1970."""
_MOST_NAME = 200
_GZIP = b"\x1f\x8b"
_OBJECT = re.compile(r'"traceEvents"\s*:\s*\[')
_ARRAY = re.compile(r"\s*\[")
_GAP = re.compile(r"[\s,]*")
_KINDS = {
    "cpu_op": CallKind.OPERATOR,
    "user_annotation": CallKind.OPERATOR,
    "python_function": CallKind.FUNCTION,
    "cuda_runtime": CallKind.DRIVER,
    "cuda_driver": CallKind.DRIVER,
    "kernel": CallKind.KERNEL,
    "gpu_memcpy": CallKind.KERNEL,
    "gpu_memset": CallKind.KERNEL,
}
"""By the categories that PyTorch's profiler has."""
_LEFT_OUT = frozenset({"Trace", "gpu_user_annotation"})
"""Categories that span others' calls and the time between them."""


class NotATrace(Exception):
    """A sentence that says why it can't be read."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call, in microseconds of the trace's own clock."""

    name: str
    kind: CallKind
    start_us: float
    end_us: float


@dataclass(frozen=True)
class Trace:
    """The calls by place, one list for each thread or stream. `is_whole`: whether all was read."""

    calls: dict[CallSide, list[list[Call]]]
    is_whole: bool


def read_trace(content: bytes) -> Trace:
    """A trace from its file, gzipped or not. Raises `NotATrace`."""
    packed, is_whole = _unpacked(content)
    text = packed.decode("utf-8", "replace")
    del packed
    events = _Events(text)
    lanes: dict[tuple[CallSide, str], list[Call]] = defaultdict(list)
    names = _Names()
    for event in events:
        if found := _call(event, names):
            lane, call = found
            lanes[lane].append(call)
    if not lanes:
        raise NotATrace("The trace has no calls with a time.")
    calls: dict[CallSide, list[list[Call]]] = defaultdict(list)
    for (place, _), found_there in lanes.items():
        calls[place].append(found_there)
    return Trace(dict(calls), is_whole and events.is_whole)


def _unpacked(content: bytes) -> tuple[bytes, bool]:
    if not content.startswith(_GZIP):
        return content[:MOST_BYTES], len(content) <= MOST_BYTES
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(content, MOST_BYTES)
    except zlib.error:
        raise NotATrace("The trace can't be unpacked.") from None
    return text, unpacker.eof


class _Events:
    """The JSON objects of a trace, one after another. `is_whole`: whether the last one was the
    trace's, which is known at the end."""

    def __init__(self, text: str) -> None:
        found = _ARRAY.match(text) or _OBJECT.search(text)
        if found is None:
            raise NotATrace("The trace has no events.")
        self._text = text
        self._begin = found.end()
        self.is_whole = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        at, text = self._begin, self._text
        decode = json.JSONDecoder().raw_decode
        for _ in range(MOST_EVENTS):
            gap = _GAP.match(text, at)
            at = gap.end() if gap else at
            if text[at : at + 1] == "]":
                self.is_whole = True
                return
            try:
                event, at = decode(text, at)
            except (ValueError, RecursionError):  # cut, or nothing that a profiler writes
                return
            if isinstance(event, dict):
                yield event


class _Names(dict[str, str]):
    """How names are shown: each is made short and printable once."""

    def __missing__(self, name: str) -> str:
        shown = self[name] = one_line(name[:_MOST_NAME])[:_MOST_NAME]
        return shown


def _call(event: dict[str, Any], names: _Names) -> tuple[tuple[CallSide, str], Call] | None:
    """A call and the thread or stream that it was on; None: the event is something else."""
    category = event.get("cat")
    if event.get("ph") != "X" or not isinstance(category, str) or category in _LEFT_OUT:
        return None
    name, start_us, duration_us = event.get("name"), _time(event.get("ts")), _time(event.get("dur"))
    if not isinstance(name, str) or start_us is None or duration_us is None or duration_us < 0:
        return None
    kind = _KINDS.get(category, CallKind.OTHER)
    place = CallSide.GPU if kind is CallKind.KERNEL else CallSide.PROCESSOR
    call = Call(names[name], kind, start_us, start_us + duration_us)
    return (place, f"{_number(event.get('pid'))} {_number(event.get('tid'))}"), call


def _number(value: object) -> str:
    """A process's or thread's number or name. Empty: it is neither, perhaps nested too deeply to be
    written out."""
    if isinstance(value, str):
        return value[:40]
    return str(value) if isinstance(value, int) and abs(value) <= _MOST_US else ""


def _time(value: object) -> float | None:
    """A number that can be a time. None: it can't, as NaN and what no clock shows."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -_MOST_US <= value <= _MOST_US else None
