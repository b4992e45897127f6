"""The few Linux calls that Python has no name for. Each raises OSError when the kernel refuses."""

import ctypes
import fcntl
import os
import socket
import struct
from functools import cache
from typing import NamedTuple

from kernelbot.harness.inside import kernel_files

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
SECCOMP_MODE_FILTER = 2

_CAPABILITY_VERSION_3 = 0x20080522
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave the namespaces in `flags` for fresh ones."""
    _check(_libc().unshare(ctypes.c_int(flags)), "unshare")


def enter_own_user_namespace(user: int | None = None) -> None:
    """Go on in a fresh user namespace, where this has the same user id as before. What the kernel
    counts by user (signals that are queued, processes) then shows this namespace's alone.

    `user`: whom to become outside of it, so that what is counted by user whatever the namespace is
    nobody else's; None: nobody else.
    """
    uid, gid = os.getuid(), os.getgid()
    if user is not None:
        os.setresuid(user, user, user)
        prctl(PR_SET_DUMPABLE, 1)  # else its own files in /proc aren't its own
    unshare(CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid if user is None else user} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        kernel_files.write(f"/proc/self/{name}", text)


def setns(fd: int, kind: int) -> None:
    """Enter the namespace that `fd` names; for pid namespaces, children only."""
    _check(_libc().setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


class Mount(NamedTuple):
    """The arguments of mount(2)."""

    source: str
    target: str
    kind: str | None
    flags: int
    options: str = ""


def mount(one: Mount) -> None:
    """mount(2)."""
    result = _libc().mount(
        one.source.encode(),
        one.target.encode(),
        one.kind.encode() if one.kind else None,
        ctypes.c_ulong(one.flags),
        one.options.encode() or None,
    )
    _check(result, f"mount {one.target}")


def prctl(option: int, argument: int = 0) -> None:
    """prctl(2) with one argument; the others are zero."""
    rest = (ctypes.c_ulong(0),) * 3
    result = _libc().prctl(ctypes.c_int(option), ctypes.c_ulong(argument), *rest)
    _check(result, f"prctl {option}")


def install_filter(program: bytes) -> None:
    """Load a seccomp filter: `program` is an array of `struct sock_filter`."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    pointer = ctypes.create_string_buffer(header, len(header))
    result = _libc().prctl(
        ctypes.c_int(PR_SET_SECCOMP),
        ctypes.c_ulong(SECCOMP_MODE_FILTER),
        ctypes.c_void_p(ctypes.addressof(pointer)),
        ctypes.c_ulong(0),
        ctypes.c_ulong(0),
    )
    _check(result, "seccomp")


def drop_capabilities() -> None:
    """Give up every capability of every set, for good."""
    last = 63
    for capability in range(last + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # past the last capability this kernel knows
            break
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _check(_libc().capset(header, (ctypes.c_uint32 * 6)()), "capset")


def bring_loopback_up() -> None:
    """Make 127.0.0.1 work inside a fresh network namespace, for processes that talk to each
    other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh22x", b"lo", _IFF_UP)
        fcntl.ioctl(handle, _SIOCSIFFLAGS, request)


def close_all_but(keep: set[int]) -> None:
    """Close every descriptor of this process except those in `keep`."""
    start = 0
    for fd in sorted(keep):
        if fd > start:  # an empty range would close everything (Python 3.11)
            os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, os.sysconf("SC_OPEN_MAX"))
