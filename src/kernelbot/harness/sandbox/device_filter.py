"""A filter of device files for a runner's control group, as containers have it: a program that the
kernel asks before a process of the group opens one. Drivers ask it as well: AMD's lists only GPUs
to a process that the process could open.
"""

import ctypes
import os
import platform
import struct
from contextlib import suppress
from dataclasses import dataclass

from kernelbot.harness.sandbox.cgroups import RunnerGroup

_BPF = {"x86_64": 321, "aarch64": 280}
_PROG_LOAD, _PROG_ATTACH = 5, 8
_CGROUP_DEVICE_PROGRAM, _CGROUP_DEVICE = 15, 6
_ALLOW_MULTI = 2
"""Beside what somebody has attached to a group above, which holds as well."""
_ATTRIBUTES_BYTES = 128
_DRM = 226
"""The major number of all screens and render nodes."""
_LICENSE = b"GPL\0"
_MAJOR_AT, _MINOR_AT = 4, 8
"""Where the program finds them in what it is given."""
_LOAD_WORD, _EQUAL, _NOT_EQUAL, _SET, _EXIT = 0x61, 0x15, 0x55, 0xB7, 0x95


class NoFilter(OSError):
    """The kernel takes no filter from this process, or there is no group for one."""


@dataclass(frozen=True)
class DeviceFilter:
    """Of the character devices with the number `major`, those of `minors` alone may be opened; all
    others as before."""

    major: int
    minors: tuple[int, ...]

    def attach(self, group: RunnerGroup) -> None:
        """Have it hold for the group, until that is removed. Raises `NoFilter`."""
        path = group.freezer.second_version if group.freezer else None
        if path is None:
            raise NoFilter("there is no control group of version 2 for a runner")
        program = self._load()
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                attributes = struct.pack("IIII", folder, program, _CGROUP_DEVICE, _ALLOW_MULTI)
                _bpf(_PROG_ATTACH, attributes)
            finally:
                os.close(folder)
        finally:
            os.close(program)

    def _load(self) -> int:
        code = ctypes.create_string_buffer(self.program())
        license_name = ctypes.create_string_buffer(_LICENSE)
        count = (len(code) - 1) // _INSTRUCTION.size
        places = ctypes.addressof(code), ctypes.addressof(license_name)
        return _bpf(_PROG_LOAD, struct.pack("IIQQ", _CGROUP_DEVICE_PROGRAM, count, *places))

    def program(self) -> bytes:
        """What the kernel executes. It answers 1 if the file may be opened."""
        checks = len(self.minors)
        return b"".join(
            (
                _instruction(_LOAD_WORD, to=2, of=1, jump=_MAJOR_AT),
                _instruction(_LOAD_WORD, to=3, of=1, jump=_MINOR_AT),
                _instruction(_NOT_EQUAL, to=2, jump=checks + 2, value=self.major),
                *(
                    _instruction(_EQUAL, to=3, jump=checks + 1 - number, value=minor)
                    for number, minor in enumerate(self.minors)
                ),
                _instruction(_SET, value=0),
                _instruction(_EXIT),
                _instruction(_SET, value=1),
                _instruction(_EXIT),
            )
        )


_INSTRUCTION = struct.Struct("<BBhi")


def _instruction(code: int, to: int = 0, of: int = 0, jump: int = 0, value: int = 0) -> bytes:
    """`to` and `of`: numbers of registers; `jump`: a place, or how many instructions to pass."""
    return _INSTRUCTION.pack(code, of << 4 | to, jump, value)


def render_filter(minors: tuple[int, ...]) -> DeviceFilter | None:
    """One that leaves these render nodes of GPUs alone; None if there is nothing to be hidden."""
    return DeviceFilter(_DRM, minors) if minors else None


def can_filter() -> bool:
    """Whether this process may filter a runner's devices, found by trying."""
    with suppress(OSError):
        group = RunnerGroup()
        try:
            DeviceFilter(0, ()).attach(group)
            return True
        finally:
            group.remove()
    return False


def _bpf(command: int, attributes: bytes) -> int:
    number = _BPF.get(platform.machine())
    if number is None:
        raise NoFilter(f"no filter is known for {platform.machine()}")
    given = ctypes.create_string_buffer(attributes, _ATTRIBUTES_BYTES)
    libc = ctypes.CDLL(None, use_errno=True)
    result = int(libc.syscall(ctypes.c_long(number), command, given, _ATTRIBUTES_BYTES))
    if result < 0:
        code = ctypes.get_errno()
        raise NoFilter(code, os.strerror(code))
    return result
