"""The system calls a runner is refused, as a filter program for the kernel.

A denied call fails with EPERM instead of killing, so that an honest library that merely probes
carries on. The list leaves out whatever needs a capability that the runner doesn't have anyway,
unless a kernel bug in it would matter. Calls that are newer than the list fail with ENOSYS, as
they do on an older Linux. Choosing processors or a priority succeeds and changes nothing: who
could make themselves unimportant would choose which of their calls wait for others.

Timers are refused that the kernel keeps apart from any thread, and descriptors that become readable
by a signal: these go off while their runner is frozen, on the processor that another runner is then
timed on, and with 200,000 waiters in epolls each takes a millisecond of it. Reads and writes that
nobody waits for (io_submit, io_uring) end in the same way. So is watching files: whoever opens one,
say a compiler of another author's, would wake all that wait for the watcher.
"""

import errno
import platform
import socket
import struct
from collections.abc import Iterable
from functools import cache

from kernelbot.harness.inside import kernel

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000

_LOAD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_AT_LEAST = 0x35
_JUMP_ANY_BIT = 0x45
_RETURN = 0x06

_NUMBER_OFFSET = 0
_ARCH_OFFSET = 4
_FIRST_ARGUMENT_OFFSET = 16
_SECOND_ARGUMENT_OFFSET = 24
_THIRD_ARGUMENT_OFFSET = 32
_X32_BIT = 0x40000000

_NEW_NAMESPACES = (
    kernel.CLONE_NEWNS
    | kernel.CLONE_NEWCGROUP
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
)
_SOCKET_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""Everything else, vsock above all, would reach past the network namespace."""

# Calls with one number on every architecture (those added since 2019).
_COMMON = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 440, 442, 443, 447, 457, 458)
"""io_uring x 3, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, pidfd_getfd,
process_madvise, mount_setattr, quotactl_fd; memfd_secret, which the judge couldn't read; statmount
and listmount, whose numbers count up over the whole machine."""
_NEWEST = 462
"""mseal, of Linux 6.10: the last call that was looked at for this list."""
_CLONE3 = 435

# name: (x86_64, aarch64); None if the architecture has no such call
_DENIED: dict[str, tuple[int, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "init_module": (175, 105),
    "inotify_add_watch": (254, 27),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "seccomp": (317, 277),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "signalfd": (282, None),
    "signalfd4": (289, 74),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "timer_create": (222, 107),
    "timerfd_create": (283, 85),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
_WITHOUT_EFFECT = {
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "setpriority": (141, 140),
}
_CLONE = (56, 220)
_PRCTL = (157, 167)
_PR_SCHED_CORE = 62
"""Keeps others from a processor's other thread, and oneself from it while they have it."""
_FCNTL = (72, 25)
_F_NOTIFY = 1026
"""Watches a folder, and sends signals: inotify's predecessor."""
_SOCKET = (41, 198)
_PRLIMIT = (302, 261)
_MINCORE = (27, 232)
_SETSOCKOPT = (54, 208)
_GETSOCKOPT = (55, 209)
_SO_MAX_PACING_RATE = 47
"""An option of SOL_SOCKET: the kernel then sends later, by a timer of its own."""
_SO_ATTACH = (26, 50, 51, 52)
"""Options of SOL_SOCKET that attach filters: Linux compiles them, and all users' compiled filters
share one bound, with those that runners are refused system calls by."""
_AUDIT_ARCH = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_SO_COOKIE = 57
_SO_NETNS_COOKIE = 71
"""An option of SOL_SOCKET, as the one above: both come from counters of the whole machine, which
asking moves on. A runner could know by them how many have asked before it."""
_NETLINK_ROUTE = 0
"""The family of netlink's by which addresses are asked for. Another one tells the same numbers."""


class UnknownArchitecture(RuntimeError):
    """No system call table for this processor."""


@cache
def build_filter(machine: str | None = None, *, connects: bool = False) -> bytes:
    """The filter for `machine` (as `platform.machine()` says it; None: this one), built once for
    all forks of a process. `connects`: for a runner that has a loopback. Raises
    `UnknownArchitecture`."""
    name = machine or platform.machine()
    if name not in _AUDIT_ARCH:
        raise UnknownArchitecture(f"no system call table for {name}")
    column, audit_arch = _AUDIT_ARCH[name]
    denied = [numbers[column] for numbers in _DENIED.values()]
    refuse = _give(_ERRNO | errno.EPERM)
    program = [
        _load(_ARCH_OFFSET),
        _step(_JUMP_EQUAL, audit_arch, 1, 0),
        _give(_KILL_PROCESS),
        _load(_NUMBER_OFFSET),
    ]
    if name == "x86_64":
        program += [_step(_JUMP_AT_LEAST, _X32_BIT, 0, 1), _give(_ERRNO | errno.ENOSYS)]
    program += [_step(_JUMP_AT_LEAST, _NEWEST + 1, 0, 1), _give(_ERRNO | errno.ENOSYS)]
    for number in sorted({*_COMMON, *(number for number in denied if number is not None)}):
        program += _when(number, [refuse])
    # The judge chooses a runner's processors, but libraries end a process for a refusal.
    for numbers in _WITHOUT_EFFECT.values():
        program += _when(numbers[column], [_give(_ERRNO)])
    program += _when(_CLONE3, [_give(_ERRNO | errno.ENOSYS)])  # its flags lie out of our sight
    program += _when(_CLONE[column], _refuse_bits(_NEW_NAMESPACES))
    program += _when(_PRCTL[column], _refuse_values(kernel.PR_SET_SECCOMP, _PR_SCHED_CORE))
    program += _when(_FCNTL[column], _refuse_second(_F_NOTIFY))
    families = _allow_values(_SOCKET_FAMILIES)
    program += _when(_SOCKET[column], [*_refuse_netlink(connects=connects), *families])
    # Of oneself only: init has the same user, and one without a limit left can't tell of an end.
    program += _when(_PRLIMIT[column], _allow_values((0,)))
    program += _when(_SETSOCKOPT[column], _refuse_options(_SO_MAX_PACING_RATE, *_SO_ATTACH))
    program += _when(_GETSOCKOPT[column], _refuse_options(_SO_COOKIE, _SO_NETNS_COOKIE))
    # It looks at no signal, not even SIGKILL, and a mapping of terabytes costs nothing.
    program += _when(_MINCORE[column], _refuse_large_second())
    program.append(_give(_ALLOW))
    return b"".join(program)


def _step(code: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _load(offset: int) -> bytes:
    return _step(_LOAD, offset, 0, 0)


def _give(action: int) -> bytes:
    return _step(_RETURN, action, 0, 0)


def _when(number: int, body: list[bytes]) -> list[bytes]:
    """Run `body`, which must return, if the call's number is `number`."""
    return [_step(_JUMP_EQUAL, number, 0, len(body)), *body]


def _refuse_bits(mask: int) -> list[bytes]:
    refuse = _give(_ERRNO | errno.EPERM)
    return [_load(_FIRST_ARGUMENT_OFFSET), _step(_JUMP_ANY_BIT, mask, 0, 1), refuse, _give(_ALLOW)]


def _refuse_values(*values: int) -> list[bytes]:
    steps = [_load(_FIRST_ARGUMENT_OFFSET)]
    for value in values:
        steps += [_step(_JUMP_EQUAL, value, 0, 1), _give(_ERRNO | errno.EPERM)]
    return [*steps, _give(_ALLOW)]


def _refuse_second(value: int) -> list[bytes]:
    refuse = _give(_ERRNO | errno.EPERM)
    step = _step(_JUMP_EQUAL, value, 0, 1)
    return [_load(_SECOND_ARGUMENT_OFFSET), step, refuse, _give(_ALLOW)]


def _refuse_large_second() -> list[bytes]:
    """An argument of 4 GiB and more."""
    refuse = _give(_ERRNO | errno.EPERM)
    return [_load(_SECOND_ARGUMENT_OFFSET + 4), _step(_JUMP_EQUAL, 0, 1, 0), refuse, _give(_ALLOW)]


def _refuse_options(*options: int) -> list[bytes]:
    """Refuse options of sockets, at the level SOL_SOCKET."""
    refuse = _give(_ERRNO | errno.EPERM)
    steps = [_load(_THIRD_ARGUMENT_OFFSET)]
    for option in options:
        steps += [_step(_JUMP_EQUAL, option, 0, 1), refuse]
    return [
        _load(_SECOND_ARGUMENT_OFFSET),
        _step(_JUMP_EQUAL, socket.SOL_SOCKET, 0, len(steps)),
        *steps,
        _give(_ALLOW),
    ]


def _refuse_netlink(*, connects: bool) -> list[bytes]:
    """Refuse netlink, but for asking for addresses where there are any; goes on to the next step
    with all else. What waits in its sockets is in no runner's memory but the machine's."""
    if not connects:
        refuse = _give(_ERRNO | errno.EPERM)
        return [_load(_FIRST_ARGUMENT_OFFSET), _step(_JUMP_EQUAL, socket.AF_NETLINK, 0, 1), refuse]
    return [
        _load(_FIRST_ARGUMENT_OFFSET),
        _step(_JUMP_EQUAL, socket.AF_NETLINK, 0, 3),
        _load(_THIRD_ARGUMENT_OFFSET),
        _step(_JUMP_EQUAL, _NETLINK_ROUTE, 1, 0),
        _give(_ERRNO | errno.EPERM),
    ]


def _allow_values(values: Iterable[int]) -> list[bytes]:
    steps = [_load(_FIRST_ARGUMENT_OFFSET)]
    for value in values:
        steps += [_step(_JUMP_EQUAL, value, 0, 1), _give(_ALLOW)]
    return [*steps, _give(_ERRNO | errno.EPERM)]
