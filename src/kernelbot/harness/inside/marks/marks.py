"""The two marks of a timed call, set next to the author's code: when it began, when it returned.

They are in a `MarkRecord`, a page that judge and runner share. A small library of our own sets them
(`marks.c`), compiled and loaded by a zygote before it forks: no Python code runs between the return
of the author's code and the mark, so that an honest answer costs no more than a prepared one.
Without a C compiler Python sets them, and times are less precise.

    go        the judge, while the runner is frozen: this turn's call may begin
    mark      the runner: the kernel has returned, and its output is at these addresses
    describe  the judge, once it has copied the output: now describe it
"""

import contextlib
import ctypes
import dataclasses
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from kernelbot.harness.data.dtypes import NUMPY_DTYPES
from kernelbot.harness.data.encode import scalar_bytes
from kernelbot.harness.data.process_memory import read_memory
from kernelbot.harness.inside.marks.known_types import CONSTANTS, FLOAT_OFFSET, known_types
from kernelbot.harness.inside.marks.probes import Probes
from kernelbot.harness.inside.marks.record import (
    MAX_ADDRESSES,
    MarkOutcome,
    MarkRecord,
    Marks,
    Ready,
    Rows,
)
from kernelbot.harness.inside.native_code import Building, load, start_compiling

_MAX_DEPTH = 9
"""One more than of an output: those of several calls are in a list."""
_WORDS = 32
_DOUBLES = 8
_C_FUNCTION = ctypes.CFUNCTYPE(None).__mro__[1]
"""What all types of C functions come from."""
_PAUSE_S = 2e-5
_READ_NS = 200_000
"""How long a reading of the clocks may take. The library has the same bound, and needs a tenth of
the time."""
_COUNTED_BYTES = 128


class _Ready(ctypes.Structure):
    _fields_ = (("fd", ctypes.c_int), ("size", ctypes.c_int64), ("message", ctypes.c_char_p))


class _Row(ctypes.Structure):
    """The arguments of a call from C: whole numbers and pointers, and doubles."""

    _fields_ = (("words", ctypes.c_int64 * _WORDS), ("doubles", ctypes.c_double * _DOUBLES))


class _Native(ctypes.Structure):
    """Calls of a C function."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("calls", ctypes.c_int64),
        ("words", ctypes.c_int64),
        ("doubles", ctypes.c_int64),
        ("row", ctypes.POINTER(_Row)),
    )


class NativeMarks:
    """Marks set by the library at `path`."""

    def __init__(self, path: Path) -> None:
        """Raises OSError if it can't be loaded."""
        held, free = ctypes.PyDLL(str(path)), ctypes.CDLL(str(path))
        self._known = known_types()
        self._call = held.call_between_marks
        self._call.restype = ctypes.c_int
        self._call.argtypes = (
            ctypes.c_void_p,
            ctypes.c_uint32,
            ctypes.POINTER(_Ready),
            ctypes.c_void_p,
            ctypes.POINTER(_Native),
            ctypes.py_object,
            ctypes.py_object,
            ctypes.c_void_p,
            ctypes.c_void_p,
        )
        self._most_words = min(held.most_words(), _WORDS)
        self.no_kernel: Callable[..., Any] = free.no_kernel
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
        rows: Rows,
        output: Any,
        ready: Ready | None,
    ) -> list[Any]:
        """Implements `Marks`."""
        returned: list[Any] = [None] * len(rows)
        native = _native(function, rows, self._most_words)
        self._call(
            record,
            turn,
            None if ready is None else _Ready(ready.socket_fd, len(ready.message), ready.message),
            None if function is None or native is not None else id(function),
            native,
            list(rows),
            returned,
            None if output is None else id(output),
            ctypes.addressof(self._known),
        )
        return returned

    def wait(
        self,
        record: int,
        turn: int,
        spin_s: float,
        sleep_s: float,
        schedstat: int,
        probes: Probes | None = None,
    ) -> tuple[int, bytes]:
        """Implements `Marks`."""
        at = None if probes is None else ctypes.addressof(probes)
        into = at, schedstat, self._counted, _COUNTED_BYTES
        seen_ns: int = self._spin(record, turn, int(spin_s * 1e9), 0, *into)
        if not seen_ns:
            seen_ns = self._sleep(record, turn, 0, int(sleep_s * 1e9), *into)
        return seen_ns, self._counted.value

    def set(self, word: int, turn: int) -> None:
        """Implements `Marks`."""
        self._set(word, turn)


class PythonMarks:
    """Marks set by Python: slower by some ten microseconds, which vary more."""

    @staticmethod
    def no_kernel(*_arguments: object) -> None:
        """Implements `Marks`."""

    def call(
        self,
        record: int,
        turn: int,
        function: Callable[..., Any] | None,
        rows: Rows,
        output: Any,
        ready: Ready | None,
    ) -> list[Any]:
        """Implements `Marks`."""
        shared, clock = MarkRecord.from_address(record), time.perf_counter_ns
        returned: list[Any] = [None] * len(rows)
        if ready is not None:
            os.write(ready.socket_fd, ready.message)
        while shared.go != turn:
            time.sleep(_PAUSE_S)
        shared.count = 0
        shared.start_ns = clock()
        try:
            if function is not None:
                for place, arguments in enumerate(rows):
                    returned[place] = function(*arguments)
            shared.end_ns = clock()
            if function is None:
                shared.outcome = MarkOutcome.TAKEN
            else:
                shared.outcome = self._locate(shared, returned if output is None else output)
        except BaseException:
            shared.outcome = MarkOutcome.RAISED
            raise
        finally:
            shared.mark = turn
            while shared.describe != turn:
                time.sleep(_PAUSE_S)
        return returned

    def _locate(self, shared: MarkRecord, part: Any, depth: int = 0) -> MarkOutcome:
        if isinstance(part, tuple) or type(part) in (list, dict):
            items = part.values() if type(part) is dict else part
            found = depth < _MAX_DEPTH and all(
                self._locate(shared, item, depth + 1) is MarkOutcome.TAKEN for item in items
            )
            return MarkOutcome.TAKEN if found else MarkOutcome.UNKNOWN
        if type(part) in CONSTANTS:
            return MarkOutcome.TAKEN
        if dataclasses.is_dataclass(part):
            values = [getattr(part, field.name) for field in dataclasses.fields(part)]
            return self._locate(shared, values, depth)
        address = _address_of(part)
        if address is None or shared.count == MAX_ADDRESSES:
            return MarkOutcome.UNKNOWN
        shared.addresses[shared.count] = address
        shared.count += 1
        return MarkOutcome.TAKEN

    def wait(
        self,
        record: int,
        turn: int,
        spin_s: float,
        sleep_s: float,
        schedstat: int,
        probes: Probes | None = None,
    ) -> tuple[int, bytes]:
        """Implements `Marks`."""
        shared = MarkRecord.from_address(record)
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
        """Implements `Marks`."""
        ctypes.c_uint32.from_address(word).value = turn


def _native(function: Any, rows: Rows, most_words: int) -> _Native | None:
    """The calls of a C function that can be made from C; None of any other."""
    if not isinstance(function, _C_FUNCTION):
        return None
    table = (_Row * len(rows))()
    words = doubles = 0
    for row, arguments in zip(table, rows, strict=True):
        words = doubles = 0
        for argument in arguments:
            if isinstance(argument, ctypes.c_double):
                if doubles == _DOUBLES:
                    return None
                row.doubles[doubles], doubles = argument.value, doubles + 1
            elif isinstance(argument, ctypes.c_void_p | ctypes.c_int64 | ctypes.c_bool):
                if words == most_words:
                    return None
                row.words[words], words = argument.value or 0, words + 1
            else:
                return None
    address = ctypes.cast(function, ctypes.c_void_p)  # type: ignore[arg-type]  # checked above
    return _Native(address, len(rows), words, doubles, table)


@cache
def marks() -> Marks:
    """This process's marks, native ones if there is a compiler. Call it first before any author's
    code runs here, and after the frameworks were imported."""
    return load(start_building(), NativeMarks) or PythonMarks()


def are_native() -> bool:
    """Whether this process's marks are set by the library."""
    return isinstance(marks(), NativeMarks)


@cache
def start_building() -> Building | None:
    """Start the compiler, which `marks` will wait for; None without one."""
    return start_compiling("kernelbot.harness.inside.marks", "marks.c", "-O2")


def _read(probes: Probes, record: MarkRecord) -> None:
    """Read the probes, as the library does with one system call."""
    is_known = record.outcome == MarkOutcome.TAKEN and record.count == probes.arrays
    if not is_known or probes.arrays > MAX_ADDRESSES:
        return
    with contextlib.suppress(OSError):
        for place, found in zip(probes.places[: probes.count], probes.found, strict=False):
            address = (record.addresses[place.array] + place.offset) % (1 << 64)
            read_memory(probes.pid, address, ctypes.addressof(found), place.length)
        probes.were_read = True


def _address_of(part: Any) -> int | None:
    if type(part) is float:
        return id(part) + FLOAT_OFFSET
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and type(part) is numpy.ndarray:
        return int(part.ctypes.data)
    if numpy is not None and isinstance(part, numpy.generic) and str(part.dtype) in NUMPY_DTYPES:
        return int(scalar_bytes(part).ctypes.data)
    if torch is not None and type(part) is torch.Tensor:
        return int(part.untyped_storage().data_ptr())  # where the library ends up as well
    return None
