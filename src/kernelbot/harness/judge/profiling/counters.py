"""Counters of the operating system and the processor, as `perf stat` shows them.

Counted with perf_event_open(2) by the judge: no program must be installed that matches the running
Linux, counting begins and ends exactly around the calls, and the author's code can't influence it,
because the sandbox denies it the call.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

_CALL = {"x86_64": 298, "aarch64": 241}
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
"""The first version of struct perf_event_attr, which every Linux accepts."""
_TIMES = 1 | 2
"""Also read how long the event was enabled, and how long it had a hardware counter."""
_READ = struct.Struct("=QQQ")
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1, 2, 32, 64
_CLOSE_ON_EXEC = 8
_ENABLE, _DISABLE = 0x2400, 0x2401
_NOT_PERMITTED = frozenset({errno.EACCES, errno.EPERM})


class CounterSource(IntEnum):
    """Who counts."""

    PROCESSOR = 0
    KERNEL = 1


@dataclass(frozen=True)
class CountedEvent:
    """Something that can be counted, by its name in `perf`."""

    name: str
    source: CounterSource
    number: int
    within_kernel: bool = False
    """Happens only in the operating system: if that may not be counted, the event is left out."""


EVENTS = (
    CountedEvent("task-clock", CounterSource.KERNEL, 1),
    CountedEvent("cycles", CounterSource.PROCESSOR, 0),
    CountedEvent("instructions", CounterSource.PROCESSOR, 1),
    CountedEvent("branches", CounterSource.PROCESSOR, 4),
    CountedEvent("branch-misses", CounterSource.PROCESSOR, 5),
    CountedEvent("cache-references", CounterSource.PROCESSOR, 2),
    CountedEvent("cache-misses", CounterSource.PROCESSOR, 3),
    CountedEvent("page-faults", CounterSource.KERNEL, 2),
    CountedEvent("context-switches", CounterSource.KERNEL, 3, within_kernel=True),
    CountedEvent("cpu-migrations", CounterSource.KERNEL, 4, within_kernel=True),
)


@dataclass(frozen=True)
class EventCount:
    """How often something happened. `share`: the share of the time in which it was counted; below
    1 if events shared the hardware counters, and then the value is scaled up."""

    value: float
    share: float


class Counters:
    """Counts on every thread of some processes, and on all that they start. Close it."""

    def __init__(self, pids: Iterable[int], events: tuple[CountedEvent, ...] = EVENTS) -> None:
        self.missing: dict[str, str] = {}
        """Why an event isn't counted, by its name."""
        self.user_only = False
        """Whether the operating system's work for the processes may not be counted here."""
        self._files: dict[str, list[int]] = {}
        threads = [thread for pid in pids for thread in _threads(pid)]
        try:
            for event in events:
                self._open(event, threads)
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Count from now on."""
        self._all(_ENABLE)

    def stop(self) -> None:
        """Stop counting."""
        self._all(_DISABLE)

    def read(self) -> dict[str, EventCount]:
        """The counts by the events' names; without those that never got a hardware counter."""
        found = {}
        for name, files in self._files.items():
            readings = [_READ.unpack(os.read(file, _READ.size)) for file in files]
            enabled = sum(reading[1] for reading in readings)
            running = sum(reading[2] for reading in readings)
            if running:
                value = sum(reading[0] for reading in readings) * enabled / running
                found[name] = EventCount(value, running / enabled)
            elif enabled:
                self.missing[name] = "it never got one of the processor's counters"
        return found

    def close(self) -> None:
        """Release the counters. Idempotent."""
        for files in self._files.values():
            for file in files:
                os.close(file)
        self._files = {}

    def _open(self, event: CountedEvent, threads: list[int]) -> None:
        files: list[int] = []
        self._files[event.name] = files
        try:
            for thread in threads:
                with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                    files.append(self._open_one(event, thread))
        except OSError as error:
            self.missing[event.name] = _reason(error)
        if event.name in self.missing:
            for file in self._files.pop(event.name):
                os.close(file)

    def _open_one(self, event: CountedEvent, thread: int) -> int:
        """Open an event, with the operating system's part if that is allowed."""
        try:
            if not self.user_only:
                return _perf_event_open(event, thread, user_only=False)
        except OSError as error:
            if error.errno not in _NOT_PERMITTED:
                raise
        file = _perf_event_open(event, thread, user_only=True)
        self.user_only = True
        if event.within_kernel:
            self.missing[event.name] = _not_permitted()
        return file

    def _all(self, request: int) -> None:
        for files in self._files.values():
            for file in files:
                fcntl.ioctl(file, request, 0)


def missing_counters() -> dict[str, str]:
    """What can't be counted on this machine, and why."""
    with contextlib.closing(Counters([os.getpid()])) as counters:
        return counters.missing


def _perf_event_open(event: CountedEvent, thread: int, *, user_only: bool) -> int:
    call = _CALL.get(platform.machine())
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    flags = _DISABLED | _INHERIT | ((_EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR) if user_only else 0)
    size = _ATTRIBUTES.size
    packed = _ATTRIBUTES.pack(event.source, size, event.number, 0, 0, _TIMES, flags, 0, 0, 0)
    any_processor, no_group = ctypes.c_int(-1), ctypes.c_int(-1)
    libc = ctypes.CDLL(None, use_errno=True)
    file = libc.syscall(
        ctypes.c_long(call),
        ctypes.create_string_buffer(packed, size),
        ctypes.c_int(thread),
        any_processor,
        no_group,
        ctypes.c_ulong(_CLOSE_ON_EXEC),
    )
    if file < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(file)


def _threads(pid: int) -> list[int]:
    try:
        return [int(folder.name) for folder in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _reason(error: OSError) -> str:
    if error.errno in _NOT_PERMITTED:
        return _not_permitted()
    if error.errno in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        return "this machine shows no processor counters, as is common for virtual ones"
    if error.errno == errno.ENOSYS:
        return "this system has no perf_event_open"
    return str(error.strerror)


def _not_permitted() -> str:
    try:
        level = Path("/proc/sys/kernel/perf_event_paranoid").read_text().strip()
    except OSError:
        return "this system doesn't permit it to the judge"
    return f"kernel.perf_event_paranoid is {level}; the judge needs a lower value or CAP_PERFMON"
