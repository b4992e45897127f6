"""Runners whose init is native code (`init.c`), if there is a compiler and something to isolate.

An init waits for most of its life. In Python it copies some 770 pages of the zygote's memory to get
there, as Python writes to whatever it looks at; in C hardly any. What isolates a runner is the same
in both: `init.py` has the lists, and the messages are those of `order.py`.
"""

import ctypes
import os
import socket
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kernelbot.harness.inside import init
from kernelbot.harness.inside.kernel import Mount
from kernelbot.harness.inside.native_code import Building, load, start_compiling
from kernelbot.harness.inside.own_folders import ways_back
from kernelbot.harness.words.message import encode
from kernelbot.harness.words.order import Hello, Isolated, StartRunner
from kernelbot.protocol.process_names import ProcessName, argument_memory

_PREFACE = struct.Struct("@QQ")
"""Before an order's own text: the private folders' new size, and whether there is a loopback."""


class _Mount(ctypes.Structure):
    _fields_ = (
        ("source", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("kind", ctypes.c_char_p),
        ("flags", ctypes.c_uint64),
        ("options", ctypes.c_char_p),
    )


class _WayBack(ctypes.Structure):
    _fields_ = (("link", ctypes.c_char_p), ("target", ctypes.c_char_p))


class _World(ctypes.Structure):
    """`struct world` of init.c."""

    _fields_ = (
        ("namespaces", ctypes.c_int64),
        ("mounts", ctypes.POINTER(_Mount)),
        ("mount_count", ctypes.c_int64),
        ("ways", ctypes.POINTER(_WayBack)),
        ("way_count", ctypes.c_int64),
        ("host", ctypes.c_char_p),
        ("folders", ctypes.POINTER(_Mount)),
        ("folder_count", ctypes.c_int64),
        ("options", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("arguments", ctypes.c_void_p),
        ("argument_bytes", ctypes.c_int64),
        ("isolated", ctypes.c_char_p),
        ("hello", ctypes.c_char_p),
    )


class NativeInit:
    """Forks runners, each below an init of its own."""

    def __init__(self, path: Path) -> None:
        """Raises OSError if the library at `path` can't be loaded."""
        self._fork = ctypes.PyDLL(str(path)).fork_runner
        self._fork.restype = ctypes.c_int64
        self._fork.argtypes = (
            ctypes.POINTER(_World),
            ctypes.c_int,
            ctypes.POINTER(ctypes.c_int),
        )
        self._world = _world()
        self._inner = ctypes.c_int(-1)

    def fork(self, control: socket.socket) -> int:
        """Fork an init that waits on `control` for a workspace and for what `packed` makes of an
        order. Returns its process id, and 0 in the runner that it forks. Raises OSError."""
        pid = int(self._fork(self._world, control.fileno(), self._inner))
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return pid

    def inner(self) -> socket.socket:
        """In a runner: its connection to its init; to be asked for once."""
        return socket.socket(fileno=self._inner.value)


@cache
def start_building() -> Building | None:
    """Start the compiler, which `native_init` will wait for; None without one."""
    # To optimize it takes twice as long, and it does nothing but call the kernel.
    return start_compiling("kernelbot.harness.inside", "init.c", "-O0")


def native_init() -> NativeInit | None:
    """The library, once it is compiled; None without a compiler. To be called once."""
    return load(start_building(), NativeInit)


def packed(request: StartRunner) -> bytes:
    """An order as a native init reads it."""
    return _PREFACE.pack(request.folder_bytes, request.has_loopback) + request.order.encode()


def _world() -> _World:
    mounts, links = init.private_mounts(), ways_back()
    ways = [_WayBack(link.encode(), target.encode()) for link, target in links.items()]
    folders = init.folder_mounts(init.RESIZED, "")
    arguments = argument_memory()
    return _World(
        namespaces=init.NAMESPACES,
        mounts=_mounts(mounts),
        mount_count=len(mounts),
        ways=(_WayBack * len(ways))(*ways),
        way_count=len(ways),
        host=init.HOST.encode(),
        folders=_mounts(folders),
        folder_count=len(folders),
        options=init.FOLDER_OPTIONS.replace("%d", "%llu").encode(),
        name=ProcessName.INIT.encode(),
        arguments=None if arguments is None else ctypes.addressof(arguments),
        argument_bytes=0 if arguments is None else len(arguments),
        isolated=encode(Isolated()),
        hello=encode(Hello("init")),
    )


def _mounts(mounts: Sequence[Mount]) -> ctypes.Array[_Mount]:
    return (_Mount * len(mounts))(
        *(
            _Mount(
                one.source.encode(),
                one.target.encode(),
                one.kind.encode() if one.kind else None,
                one.flags,
                one.options.encode() or None,
            )
            for one in mounts
        )
    )
