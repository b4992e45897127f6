"""The two marks of a timed call, set next to the author's code: when it began, when it returned.

They are in a `Record`, a page that judge and runner share. A small library of our own sets them
(`marks.c`), compiled and loaded by a zygote before it forks: no Python code runs between the return
of the author's code and the mark, so that an honest answer costs no more than a prepared one.
Without a C compiler Python sets them, and times are less precise.

    go        the judge, while the runner is frozen: this turn's call may begin
    mark      the runner: the kernel has returned, and its output is at these addresses
    describe  the judge, once it has copied the output: now describe it
"""

import contextlib
import ctypes
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from kernelbot.harness.runner_client.freeze import read_memory
from kernelbot.harness.timing.probes import Probes

MAX_ADDRESSES = 32
RECORD_BYTES = 4096
_MAX_STEPS = 4
_KINDS = 2
_COMPILERS = ("gcc", "cc", "clang")
_FLAGS = ("-O2", "-shared", "-fPIC")
_BUILD_S = 30.0
_PAUSE_S = 2e-5
_READ_NS = 200_000
"""As in the library, which needs a tenth of the time."""
_COUNTED_BYTES = 128
_WORD = ctypes.sizeof(ctypes.c_void_p)
_SEARCHED_BYTES = 256
"""How many bytes of a framework's object are searched for a pointer."""
_END_OF_MEMORY = 1 << 63


class Outcome(IntEnum):
    """What the mark says about the call."""

    UNKNOWN = 1
    """It returned something whose address only a description will tell."""
    TAKEN = 2
    """It returned, and the addresses are those of its output's bytes."""
    RAISED = 3


class Record(ctypes.Structure):
    """What judge and runner share; the runner may write anything there."""

    _fields_ = (
        ("go", ctypes.c_uint32),
        ("describe", ctypes.c_uint32),
        ("mark", ctypes.c_uint32),
        ("outcome", ctypes.c_uint32),
        ("start_ns", ctypes.c_int64),
        ("end_ns", ctypes.c_int64),
        ("count", ctypes.c_uint64),
        ("addresses", ctypes.c_uint64 * MAX_ADDRESSES),
    )


class _Kind(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_void_p),
        ("steps", ctypes.c_int64),
        ("offsets", ctypes.c_int64 * _MAX_STEPS),
    )


class Known(ctypes.Structure):
    """The types for which the library knows how to find their bytes."""

    _fields_ = (
        ("type_offset", ctypes.c_int64),
        ("tuple_type", ctypes.c_void_p),
        ("list_type", ctypes.c_void_p),
        ("kinds", ctypes.c_int64),
        ("kind", _Kind * _KINDS),
    )


class Marks(Protocol):
    """Both sides' operations on the record at an address."""

    def call(
        self,
        record: int,
        turn: int,
        function: Callable[..., Any] | None,
        arguments: tuple[Any, ...],
        output: Any,
    ) -> Any:
        """In the runner: wait for `go`, call between the marks, wait for `describe`.

        `output`: the object that the call fills; None: its return value. Without a `function` one
        mark follows directly after the other, and None is returned. Raises what the function
        raises.
        """

    def wait(
        self,
        record: int,
        turn: int,
        spin_s: float,
        sleep_s: float,
        schedstat: int,
        probes: Probes | None = None,
    ) -> tuple[int, bytes]:
        """In the judge: when the mark was seen, by `time.perf_counter_ns()` (0 if it wasn't), and
        the content of the descriptor `schedstat` (-1: none) at that moment.

        Polls for `spin_s` without a pause, then sleeps for at most `sleep_s`. `probes` are read at
        once, and record that, if the mark names as many arrays as they are for.
        """

    def set(self, word: int, turn: int) -> None:
        """Write `go` or `describe` at the address `word`, and wake the other side."""


class NativeMarks:
    """Marks set by the library at `path`."""

    def __init__(self, path: Path) -> None:
        """Raises OSError if it can't be loaded."""
        held, free = ctypes.PyDLL(str(path)), ctypes.CDLL(str(path))
        self._known = _known_types()
        self._call = held.call_between_marks
        self._call.restype = ctypes.py_object
        self._call.argtypes = (
            ctypes.c_void_p,
            ctypes.c_uint32,
            ctypes.c_void_p,
            ctypes.py_object,
            ctypes.c_void_p,
            ctypes.c_void_p,
        )
        # Other threads of the judge may run while it sleeps, but must not interrupt its polling.
        self._spin, self._sleep = held.wait_for_mark, free.wait_for_mark
        for wait in (self._spin, self._sleep):
            wait.restype = ctypes.c_int64
            wait.argtypes = (
                ctypes.c_void_p,
                ctypes.c_uint32,
                ctypes.c_int64,
                ctypes.c_int64,
                ctypes.c_void_p,
                ctypes.c_int,
                ctypes.c_char_p,
                ctypes.c_size_t,
            )
        self._counted = ctypes.create_string_buffer(_COUNTED_BYTES)
        self._set = held.set_turn
        self._set.restype = None
        self._set.argtypes = (ctypes.c_void_p, ctypes.c_uint32)

    def call(
        self,
        record: int,
        turn: int,
        function: Callable[..., Any] | None,
        arguments: tuple[Any, ...],
        output: Any,
    ) -> Any:
        """See `Marks`."""
        returned = self._call(
            record,
            turn,
            None if function is None else id(function),
            arguments,
            None if output is None else id(output),
            ctypes.addressof(self._known),
        )
        return None if function is None else returned

    def wait(
        self,
        record: int,
        turn: int,
        spin_s: float,
        sleep_s: float,
        schedstat: int,
        probes: Probes | None = None,
    ) -> tuple[int, bytes]:
        """See `Marks`."""
        at = None if probes is None else ctypes.addressof(probes)
        into = at, schedstat, self._counted, _COUNTED_BYTES
        seen_ns: int = self._spin(record, turn, int(spin_s * 1e9), 0, *into)
        if not seen_ns:
            seen_ns = self._sleep(record, turn, 0, int(sleep_s * 1e9), *into)
        return seen_ns, self._counted.value

    def set(self, word: int, turn: int) -> None:
        """See `Marks`."""
        self._set(word, turn)


class PythonMarks:
    """Marks set by Python: slower by some ten microseconds, which vary more."""

    def call(
        self,
        record: int,
        turn: int,
        function: Callable[..., Any] | None,
        arguments: tuple[Any, ...],
        output: Any,
    ) -> Any:
        """See `Marks`."""
        shared, clock = Record.from_address(record), time.perf_counter_ns
        returned: Any = None
        while shared.go != turn:
            time.sleep(_PAUSE_S)
        shared.count = 0
        shared.start_ns = clock()
        try:
            if function is not None:
                returned = function(*arguments)
            shared.end_ns = clock()
            if function is None:
                shared.outcome = Outcome.TAKEN
            else:
                shared.outcome = self._locate(shared, returned if output is None else output)
        except BaseException:
            shared.outcome = Outcome.RAISED
            raise
        finally:
            shared.mark = turn
            while shared.describe != turn:
                time.sleep(_PAUSE_S)
        return returned

    def _locate(self, shared: Record, output: Any) -> Outcome:
        parts = output if type(output) in (tuple, list) else (output,)
        for part in parts:
            address = _address_of(part)
            if address is None or shared.count == MAX_ADDRESSES:
                return Outcome.UNKNOWN
            shared.addresses[shared.count] = address
            shared.count += 1
        return Outcome.TAKEN

    def wait(
        self,
        record: int,
        turn: int,
        spin_s: float,
        sleep_s: float,
        schedstat: int,
        probes: Probes | None = None,
    ) -> tuple[int, bytes]:
        """See `Marks`."""
        shared = Record.from_address(record)
        until = time.perf_counter() + spin_s
        while shared.mark != turn:
            if time.perf_counter() >= until:
                time.sleep(_PAUSE_S)
                if time.perf_counter() >= until + sleep_s:
                    return 0, b""
        seen_ns = time.perf_counter_ns()
        if probes is not None:
            _read(probes, shared)
            read_ns = time.perf_counter_ns()
            seen_ns = read_ns if read_ns - seen_ns > _READ_NS else seen_ns
        return seen_ns, b"" if schedstat < 0 else os.pread(schedstat, _COUNTED_BYTES, 0)

    def set(self, word: int, turn: int) -> None:
        """See `Marks`."""
        ctypes.c_uint32.from_address(word).value = turn


@cache
def marks() -> Marks:
    """This process's marks, native ones if there is a compiler. Call it first before any author's
    code runs here, and after the frameworks were imported."""
    building = start_building()
    if building is None:
        return PythonMarks()
    compiler, folder = building
    with folder:
        try:
            if compiler.wait(_BUILD_S) == 0:
                return NativeMarks(Path(folder.name, "marks.so"))
        except (OSError, subprocess.TimeoutExpired) as error:
            compiler.kill()
            sys.stderr.write(f"no native marks: {error}\n")
    return PythonMarks()


def are_native() -> bool:
    """Whether this process's marks are set by the library."""
    return isinstance(marks(), NativeMarks)


@cache
def start_building() -> tuple[subprocess.Popen[bytes], tempfile.TemporaryDirectory[str]] | None:
    """Start the compiler, which `marks` will wait for; None without one."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    source = pkgutil.get_data("kernelbot.harness.timing", "marks.c")
    if compiler is None or source is None:
        return None
    folder = tempfile.TemporaryDirectory(prefix="kernelbot-marks-")
    place = Path(folder.name, "marks.c")
    place.write_bytes(source)
    command = [compiler, *_FLAGS, "-o", str(place.with_suffix(".so")), str(place)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL), folder


@dataclass(frozen=True)
class _Sample:
    """An object of a framework, and the address of its bytes."""

    thing: object
    address: int


def _known_types() -> Known:
    """How to find the bytes of the loaded frameworks' arrays."""
    known = Known(type_offset=_WORD, tuple_type=id(tuple), list_type=id(list))
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        finder = _Finder(memory.fileno())
        for samples in _samples():
            offsets = finder.way(samples)
            if offsets is not None and _has_type_at(samples[0].thing, _WORD):
                _add_kind(known, type(samples[0].thing), offsets)
    return known


def _add_kind(known: Known, of: type, offsets: tuple[int, ...]) -> None:
    kind = known.kind[known.kinds]
    kind.type, kind.steps = id(of), len(offsets)
    for step, offset in enumerate(offsets):
        kind.offsets[step] = offset
    known.kinds += 1


def _has_type_at(thing: object, offset: int) -> bool:
    return ctypes.c_void_p.from_address(id(thing) + offset).value == id(type(thing))


def _samples() -> Iterator[tuple[_Sample, ...]]:
    """Arrays of several shapes, by framework."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        arrays = [numpy.zeros(size, dtype) for size in (3, (4, 5)) for dtype in ("f8", "u1")]
        yield tuple(_Sample(one, one.ctypes.data) for one in arrays)
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "zeros"):
        dtypes = (torch.float32, torch.uint8)
        tensors = [torch.zeros(size, dtype=dtype) for size in (3, (4, 5)) for dtype in dtypes]
        yield tuple(_Sample(one, one.data_ptr()) for one in tensors)


class _Finder:
    """Finds by trial how a framework's objects lead to their bytes."""

    def __init__(self, memory_fd: int) -> None:
        """`memory_fd`: this process's own memory, so that reading a bad pointer only fails."""
        self._memory_fd = memory_fd

    def way(self, samples: tuple[_Sample, ...]) -> tuple[int, ...] | None:
        """The offsets to follow from each of the objects to its bytes; None if there are none."""
        first = samples[0]
        for steps in range(1, _MAX_STEPS):
            for offsets in self._ways(id(first.thing), first.address, steps):
                if all(self._follow(id(one.thing), offsets) == one.address for one in samples):
                    return offsets
        return None

    def _ways(self, place: int, target: int, steps: int) -> Iterator[tuple[int, ...]]:
        for offset, word in self._words(place).items():
            if steps == 1:
                if word == target:
                    yield (offset,)
            elif word:
                yield from ((offset, *rest) for rest in self._ways(word, target, steps - 1))

    def _follow(self, place: int, offsets: tuple[int, ...]) -> int:
        for offset in offsets:
            place = self._words(place).get(offset, 0)
        return place

    def _words(self, place: int) -> dict[int, int]:
        """Words of an object that may be pointers, by offset; empty if it isn't readable memory."""
        found = b""
        with contextlib.suppress(OSError):
            if place % _WORD == 0 and 0 < place < _END_OF_MEMORY:
                found = os.pread(self._memory_fd, _SEARCHED_BYTES, place)
        words = memoryview(found[: len(found) - len(found) % _WORD]).cast("P")
        return {number * _WORD: word for number, word in enumerate(words)}


def _read(probes: Probes, record: Record) -> None:
    """Read the probes, as the library does with one system call."""
    is_known = record.outcome == Outcome.TAKEN and record.count == probes.arrays
    if not is_known or probes.arrays > MAX_ADDRESSES:
        return
    with contextlib.suppress(OSError):
        for place, found in zip(probes.places[: probes.count], probes.found, strict=False):
            address = (record.addresses[place.array] + place.offset) % (1 << 64)
            read_memory(probes.pid, address, ctypes.addressof(found), place.length)
        probes.were_read = True


def _address_of(part: Any) -> int | None:
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and type(part) is numpy.ndarray:
        return int(part.ctypes.data)
    if torch is not None and type(part) is torch.Tensor:
        return int(part.data_ptr())
    return None
