"""The trusted root of a runner's process tree, which is pid 1 of the runner's pid namespace.

It is forked ahead of need, makes the namespaces, forks the runner proper, and waits on its control
channel, first for the place where the runner moves in, and then for an order. It runs no author's
code and shares no descriptor with it. When the runner ends, or the judge goes away, init ends, and
the kernel kills whatever is left in the namespace.
"""

import os
import resource
import select
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NoReturn

from kernelbot.harness.data import wire
from kernelbot.harness.inside import descendants, entry, kernel
from kernelbot.harness.inside.kernel import Mount
from kernelbot.harness.inside.machine_wide import covers
from kernelbot.harness.inside.own_folders import PRIVATE_FOLDERS, ways_back
from kernelbot.harness.words.order import (
    Hello,
    Isolated,
    NotIsolated,
    NotStarted,
    RunnerEnded,
    RunnerOrder,
    RunnerWorkspace,
    SpareReply,
    SpareRequest,
)
from kernelbot.harness.words.sandbox import Surroundings
from kernelbot.protocol import Limits
from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.process_names import ProcessName, name_process

_MAX_FILES_EACH = 65536
NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS
HOST = "runner"
FOLDER_OPTIONS = f"size=%d,nr_inodes={_MAX_FILES_EACH},mode=0777"
"""Of the private folders, by the bytes that fit into each."""
RESIZED = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_REMOUNT
STATUS, CHANNEL, STDOUT, STDERR = range(4)
"""Order of the descriptors that come with a place. Any further ones are the other ranks' channels
and then cgroup task lists."""


def run_init(control_channel: socket.socket, around: Surroundings) -> NoReturn:
    """Be the init of one runner, to its end. Called in a fresh fork of the zygote."""
    isolated = around.isolated
    name_process(ProcessName.INIT)
    try:
        kernel.close_all_but({0, 1, 2, control_channel.fileno()})
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        _live(control_channel, around)
    except BaseException:  # noqa: BLE001 - the last frame of this process: it shows and ends
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        if not isolated:
            descendants.kill_all(os.getpid())
        os._exit(0)


def _live(control_channel: socket.socket, around: Surroundings) -> None:
    try:
        runner_pid, inner = _prepare(around)
    except OSError as error:
        _answer_with_error(control_channel, error)
        return
    packet = wire.receive(control_channel, SpareRequest)
    if packet is not None:
        _follow(packet, control_channel, runner_pid, inner, isolated=around.isolated)


def _prepare(around: Surroundings) -> tuple[int, socket.socket]:
    if around.isolated:
        _make_private_world()
    else:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    inner, far = wire.pair()
    runner_pid = os.fork()
    if runner_pid == 0:
        inner.close()
        entry.run_entry(far, around)
    far.close()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # the runner must not read our memory or descriptors
    packet = wire.receive(inner, SpareReply)
    reply = None if packet is None else packet.message
    if not isinstance(reply, Isolated):
        detail = reply.error if isinstance(reply, NotIsolated) else "it died"
        raise OSError(f"the runner could not be isolated: {detail}")
    return runner_pid, inner


@cache
def private_mounts() -> tuple[Mount, ...]:
    """What is mounted in a runner's own mount namespace, in order. Found out once, by a zygote."""
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    return (
        Mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE),
        Mount("proc", "/proc", "proc", flags | kernel.MS_NOEXEC),
        *covers(),
        *folder_mounts(flags, FOLDER_OPTIONS % Limits().file_size_bytes),
    )


def folder_mounts(flags: int, options: str) -> tuple[Mount, ...]:
    """The folders that each runner has for itself."""
    return tuple(Mount("tmpfs", folder, "tmpfs", flags, options) for folder in PRIVATE_FOLDERS)


def _make_private_world() -> None:
    kernel.unshare(NAMESPACES)
    for one in private_mounts():
        kernel.mount(one)
    for link, target in ways_back().items():
        Path(link).symlink_to(target)
    socket.sethostname(HOST)


def _finish_world(order: RunnerOrder) -> None:
    """What depends on the task."""
    if order.folder_bytes:
        for one in folder_mounts(RESIZED, FOLDER_OPTIONS % order.folder_bytes):
            kernel.mount(one)
    if order.entry.has_loopback:
        kernel.bring_loopback_up()


def _follow(
    packet: wire.Packet[SpareRequest],
    control_channel: socket.socket,
    runner_pid: int,
    inner: socket.socket,
    *,
    isolated: bool,
) -> None:
    status = socket.socket(fileno=packet.fds[STATUS])
    place = packet.message
    if not isinstance(place, RunnerWorkspace):
        raise AssertionError("a runner is placed first")
    wire.send(status, Hello("init"))
    wire.send(inner, place, packet.fds)
    wire.close_all(packet.fds[CHANNEL:])
    _quieten()

    def pass_on(order: RunnerOrder) -> None:
        try:
            if isolated:
                _finish_world(order)
                kernel.drop_capabilities()
            wire.send(inner, order)
        except OSError as error:
            wire.send(status, NotStarted(str(error)))
            raise
        inner.close()

    try:
        _watch(runner_pid, status, control_channel, pass_on)
    finally:
        if not isolated:  # else all of it goes with the namespaces
            descendants.kill_all(os.getpid())
            shutil.rmtree(place.box, ignore_errors=True)


def _quieten() -> None:
    """Let go of the zygote's standard streams."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def _watch(
    runner_pid: int,
    status: socket.socket,
    control_channel: socket.socket,
    pass_on: Callable[[RunnerOrder], None],
) -> None:
    """Reap until the runner has ended (then say how), the judge is gone, or so is whoever would
    bring the order, which is passed on."""
    awake, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_blocking(awake, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    for watched in (awake, status, control_channel):
        poll.register(watched, select.POLLIN)
    while (ended := _reap(runner_pid)) is None:
        ready = {fd for fd, _ in poll.poll()}
        if status.fileno() in ready:
            return
        if awake in ready:
            os.read(awake, 4096)
        if control_channel.fileno() in ready:
            packet = wire.receive(control_channel, SpareRequest)
            if packet is None or not isinstance(packet.message, RunnerOrder):
                return
            pass_on(packet.message)
            poll.unregister(control_channel)
            control_channel.close()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_time_s = usage.ru_utime + usage.ru_stime
    wire.send(status, RunnerEnded(ended, cpu_time_s))


def _reap(runner_pid: int) -> int | None:
    ended = None
    while True:
        try:
            pid, wait_status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if pid == runner_pid:
            ended = wait_status


def _answer_with_error(control_channel: socket.socket, error: OSError) -> None:
    """Tell whoever comes for this runner why it can't be had."""
    sys.stderr.write(f"runner: {error!r}\n")
    packet = wire.receive(control_channel, SpareRequest)
    if packet is not None:
        wire.send(socket.socket(fileno=packet.fds[STATUS]), NotStarted(in_words(error)))
