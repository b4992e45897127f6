"""The runner proper: the process that gives up everything and then meets the author's code."""

import importlib
import math
import os
import resource
import signal
import socket
import sys
import traceback
from contextlib import suppress
from typing import NoReturn, TextIO

from kernelbot.harness.data import wire
from kernelbot.harness.inside import execute, kernel, kernel_files, seccomp
from kernelbot.harness.inside.own_builds import INDUCTOR_CACHE, NUMBA_CACHE, TRITON_CACHE
from kernelbot.harness.inside.own_folders import PRIVATE_FOLDERS
from kernelbot.harness.inside.warm_up import warm_up
from kernelbot.harness.words.order import (
    Hello,
    Isolated,
    NotIsolated,
    NotStarted,
    RunnerEntry,
    RunnerOrder,
    RunnerWorkspace,
    SpareRequest,
)
from kernelbot.harness.words.sandbox import Surroundings
from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.process_names import ProcessName, name_process

_DATA_ALLOWANCE_BYTES = 1 << 30
"""Added where RLIMIT_DATA stands in for a cgroup: it also counts what the zygote imported."""
_SHARE_OF_FILES = 4
_SHARE_OF_CAGE_FILES = 2
"""A runner has at most this part of the zygote's open files, and the problem's code that part. What
one puts under way in sockets counts against the limits of all: otherwise nobody else's runner could
be started, and no problem's code could send its data."""
_SHARE_OF_QUEUES = 8
"""A runner has at most this part of the signals and bytes of message queues that may wait: these
are counted by the user who started the sandbox as well, for all runners together."""
_PROCESS_ALLOWANCE = 64
"""Added where RLIMIT_NPROC stands in: it also counts the zygote and its other runners."""


def run_entry(inner: socket.socket, around: Surroundings) -> NoReturn:
    """Wait, move to a place, become a shell that nothing gets out of, follow the order, and end."""
    exit_code = 1
    name_process(ProcessName.RUNNER)
    try:
        if around.isolated:
            seccomp.build_filter()  # or say at once that there is none
        _enter_sandbox(inner, around)
        wire.send(inner, Isolated())
        warm_up()
        packet = wire.receive(inner, SpareRequest)
        if packet is not None:
            exit_code = _follow(packet, inner, isolated=around.isolated)
    except seccomp.UnknownArchitecture as error:
        wire.send(inner, NotIsolated(str(error)))
    except SystemExit as leaving:
        exit_code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # noqa: BLE001 - the last frame of this process: it shows and ends
        traceback.print_exc()
    finally:
        _flush(sys.stdout)
        _flush(sys.stderr)
        os._exit(exit_code & 0xFF)


def _enter_sandbox(inner: socket.socket, around: Surroundings) -> None:
    kernel.close_all_but({0, 1, 2, inner.fileno()})
    if around.isolated:
        if around.user is not None:
            for folder in PRIVATE_FOLDERS:
                os.chown(folder, around.user, -1)
        kernel.enter_own_user_namespace(around.user)
    os.setsid()  # else a signal to "my group" would reach the zygote
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(OSError):  # a courtesy to the machine; some containers refuse it
        kernel_files.write("/proc/self/oom_score_adj", "1000")
    if around.cpus:
        os.sched_setaffinity(0, around.cpus)  # for good: the filter to come forbids it


def _lock_in(refused: bytes) -> None:
    """For good, and once in the control groups: from here on their names can't be seen."""
    kernel.unshare(kernel.CLONE_NEWCGROUP)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.install_filter(refused)


def _follow(packet: wire.Packet[SpareRequest], inner: socket.socket, *, isolated: bool) -> int:
    workspace = packet.message
    if not isinstance(workspace, RunnerWorkspace):
        raise AssertionError("a runner is placed first")
    status_fd, channel_fd, *streams_and_more = packet.fds
    others = streams_and_more[2 : 1 + workspace.channels]
    with socket.socket(fileno=status_fd) as status:
        try:
            _move_in(workspace, [fd for fd in streams_and_more if fd not in others])
            if isolated:
                _lock_in(seccomp.build_filter(connects=workspace.connects))
            wire.send(status, Hello("runner"))
            order = _next_order(inner)
        except OSError as error:
            sys.stderr.write(f"runner: {error!r}\n")
            wire.send(status, NotStarted(in_words(error)))
            return 1
        if order is None:
            return 0  # nobody needs this runner
        wire.send(status, Hello("ready"))
        if order.entry is RunnerEntry.RANKS:
            channels = [socket.socket(fileno=fd) for fd in (channel_fd, *others)]
            family = importlib.import_module("kernelbot.harness.inside.ranks.family")
            return int(family.serve_ranks(channels, status))
    _serve(order.entry, socket.socket(fileno=channel_fd))
    return 0


def _next_order(inner: socket.socket) -> RunnerOrder | None:
    """The order, once there is one, with its limits in force. Raises OSError."""
    with inner:
        packet = wire.receive(inner, SpareRequest)
    if packet is None or not isinstance(packet.message, RunnerOrder):
        return None
    _set_limits(packet.message)
    return packet.message


def _serve(entry: RunnerEntry, channel: socket.socket) -> None:
    if entry is RunnerEntry.EXEC:
        execute.serve(channel)
    elif entry.examines:
        name_process(ProcessName.CAGE)
        importlib.import_module("kernelbot.harness.inside.cage.examiner").serve(channel)
    else:
        importlib.import_module("kernelbot.harness.inside.runner.runner").serve(channel)


def _move_in(workspace: RunnerWorkspace, fds: list[int]) -> None:
    stdout_fd, stderr_fd, *task_lists = fds
    for fd in task_lists:
        with suppress(PermissionError):  # of version 2 before Linux 5.16; then the judge does it
            os.write(fd, b"0")  # a process that moves itself is spared the kernel's global lock
    wire.close_all(task_lists)
    _connect_streams(stdout_fd, stderr_fd)
    os.chdir(workspace.box)
    name_folders(workspace.box)


def name_folders(box: str) -> None:
    """Have programs and libraries keep what they write in the runner's own folder `box`."""
    os.environ["HOME"] = box
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{box}/{INDUCTOR_CACHE}"
    os.environ["NUMBA_CACHE_DIR"] = f"{box}/{NUMBA_CACHE}"
    if "TRITON_CACHE_DIR" in os.environ:  # where Triton compiles for a GPU that isn't here
        os.environ["TRITON_CACHE_DIR"] = f"{box}/{TRITON_CACHE}"


def _connect_streams(stdout_fd: int, stderr_fd: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (stdout_fd, 1), (stderr_fd, 2)):
        os.dup2(source, target)
        os.close(source)
    # by line, so that what was printed before a crash is not lost
    sys.stdout = open(1, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc] # they are final only by custom


def _set_limits(order: RunnerOrder) -> None:
    limits = order.limits
    cpu_s = max(1, math.ceil(limits.cpu_time_s))
    _lower(resource.RLIMIT_CORE, 1)  # 0 would still start a host's core dump handler; 1 doesn't
    _lower(resource.RLIMIT_CPU, cpu_s, cpu_s + 1)
    share = _SHARE_OF_CAGE_FILES if order.entry.examines else _SHARE_OF_FILES
    most_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1] // share
    _lower(resource.RLIMIT_NOFILE, min(limits.open_files, most_files))
    _lower(resource.RLIMIT_FSIZE, limits.file_size_bytes)
    for kind in (resource.RLIMIT_SIGPENDING, resource.RLIMIT_MSGQUEUE):
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            _lower(kind, most // _SHARE_OF_QUEUES)
    if order.rlimit_memory:
        _lower(resource.RLIMIT_DATA, limits.memory_bytes + _DATA_ALLOWANCE_BYTES)
    if order.rlimit_processes:
        _lower(resource.RLIMIT_NPROC, limits.processes + _PROCESS_ALLOWANCE)


def _lower(kind: int, soft: int, hard: int | None = None) -> None:
    """Set a limit, never above what the system allows already."""
    ceiling = resource.getrlimit(kind)[1]
    wanted = (soft, soft if hard is None else hard)
    if ceiling != resource.RLIM_INFINITY:
        wanted = (min(wanted[0], ceiling), min(wanted[1], ceiling))
    resource.setrlimit(kind, wanted)


def _flush(stream: TextIO) -> None:
    with suppress(OSError, ValueError, AttributeError):  # the author may have closed or replaced it
        stream.flush()
