"""Holding a runner: its channel, its output, its life."""

import os
import select
import shutil
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass

from kernelbot.harness.data import wire
from kernelbot.harness.data.descriptors import close_apart
from kernelbot.harness.inside import descendants, kernel_files
from kernelbot.harness.sandbox.capture import Drain, OutputCapture
from kernelbot.harness.sandbox.cgroups import RunnerGroup
from kernelbot.harness.sandbox.freezer import Freezer
from kernelbot.harness.words.order import RankEnded, RunnerEnded, RunnerStatus
from kernelbot.harness.words.sandbox import RunnerExit, SandboxUnavailable
from kernelbot.protocol import Limits

_LAST_REPORT_S = 0.1
"""How long a runner that seems to be ending by itself is given to say how."""
_DEATH_TIMEOUT_S = 4.0
"""A process that takes longer is being ended by the operating system: the next needn't wait."""
_DRAIN_TIMEOUT_S = 0.5


@dataclass(frozen=True)
class Ends:
    """Our ends of what connects us with a runner."""

    status: socket.socket
    channels: tuple[socket.socket, ...]
    stdout: int
    stderr: int

    def close(self) -> None:
        """Close all of them."""
        self.status.close()
        for channel in self.channels:
            channel.close()
        wire.close_all((self.stdout, self.stderr))


class Runner:
    """One process tree for one phase of one submission. Must be ended with `kill`."""

    def __init__(
        self,
        ends: Ends,
        pids: dict[str, int],
        group: RunnerGroup,
        limits: Limits,
        box: str,
        isolated: bool,
    ) -> None:
        """Made by `RunnerClient.spawn`."""
        self.channels = ends.channels
        """Stream sockets to the runner, or one to each rank; their framing is the caller's."""
        self.pid = pids["init"]
        """Process id of the tree's root, as seen from here."""
        self.main_pid = pids["runner"]
        """The process below it: the runner itself, or the parent of all ranks."""
        self.rank_pids = tuple(pids[f"rank {rank}"] for rank in range(len(pids) - 2))
        """The ranks, if there are any."""
        self.stdout = OutputCapture(limits.output_kept_bytes, limits.output_limit_bytes)
        self.stderr = OutputCapture(limits.output_kept_bytes, limits.output_limit_bytes)
        self._status = ends.status
        self._group = group
        self._box = box
        self._isolated = isolated
        self._exit: RunnerExit | None = None
        self._cpu_time_s: float | None = None
        """Used up to the moment it was struck; None: it wasn't yet."""
        self._ended: RunnerEnded | None = None
        self._first_rank: int | None = None
        """To end, of several."""
        self._pidfd = _open_living(self.pid, ends.status)
        self._runner_pidfd = _open_child(self.main_pid, self.pid)
        captures = {ends.stdout: self.stdout, ends.stderr: self.stderr}
        self._drain = Drain(captures, on_overflow=self._signal_kill)

    def cpu_time_ns(self) -> int | None:
        """Processor time of the tree but for `pid` itself, dead processes included; None if
        nothing here counts that."""
        return self._group.cpu_time_ns()

    def peak_bytes(self) -> int:
        """How much memory the tree has used at most; 0 if nothing here counts that."""
        return self._group.peak_bytes()

    @property
    def freezer(self) -> Freezer | None:
        """Freezes the whole tree but for `pid` itself; None if there is none to be had."""
        return self._group.freezer

    @property
    def channel(self) -> socket.socket:
        """The only stream socket, or that to rank 0."""
        return self.channels[0]

    def wait(self, timeout_s: float) -> RunnerExit | None:
        """Wait for the runner to end by itself; None if it still lives after `timeout_s`."""
        if self._exit is None and _wait_readable(self._pidfd, timeout_s):
            return self.kill()
        return self._exit

    def kill(self) -> RunnerExit:
        """End the whole tree and say how the runner ended. On return no code of it runs any more,
        and nothing of it lives but what the kernel takes seconds to end. Idempotent.
        """
        if self._exit is not None:
            return self._exit
        cpu_time_s = self.terminate()
        _wait_readable(self._pidfd, _DEATH_TIMEOUT_S)
        self._exit = self._describe(cpu_time_s)
        self._release()
        return self._exit

    def terminate(self) -> float:
        """Send the signal that ends the whole tree; the processor time that the runner had used, in
        seconds. Idempotent.

        A process with a framework in it takes 20 ms to die, which `kill` waits for.
        """
        if self._cpu_time_s is not None:
            return self._cpu_time_s
        if self._is_ending():
            _wait_readable(self._pidfd, _LAST_REPORT_S)
            self._read_report()  # what comes later would only tell of our own signal
        self._cpu_time_s = sum(map(_cpu_time_s, self.rank_pids or (self.main_pid,)))
        if not self._isolated:
            self.thaw()
            descendants.kill_all(self.pid)
            _wait_readable(self._pidfd, _LAST_REPORT_S)
        self._signal_kill()
        self.thaw()
        return self._cpu_time_s

    def thaw(self) -> None:
        """Let the tree go on. Whoever is frozen can't die, of control groups of version 1."""
        if self.freezer is not None:
            self.freezer.thaw()

    def _is_ending(self) -> bool:
        """Whether the runner's end of the channel is closed, or its last report is here."""
        self._read_report()
        if self._ended is not None or self._first_rank is not None:
            return True
        if self.channel.fileno() >= 0 and not _wait_readable(self.channel.fileno(), 0):
            return False
        try:
            return not self.channel.recv(1, socket.MSG_PEEK)
        except OSError:  # reset, or closed by our own caller: only a live runner loses by waiting
            return True

    def _read_report(self) -> None:
        while self._ended is None and _wait_readable(self._status.fileno(), 0):
            packet = wire.receive(self._status, RunnerStatus)
            if packet is None:
                return
            if isinstance(packet.message, RunnerEnded):
                self._ended = packet.message
            elif isinstance(packet.message, RankEnded):
                self._first_rank = packet.message.rank

    def _describe(self, cpu_time_s: float) -> RunnerExit:
        wait_status = None if self._ended is None else self._ended.wait_status
        exit_code, signal_number = exit_and_signal(wait_status)
        return RunnerExit(
            exit_code=exit_code,
            signal=signal_number,
            out_of_memory=self._group.out_of_memory(),
            cpu_time_s=cpu_time_s if self._ended is None else self._ended.cpu_time_s,
            too_many_processes=self._group.too_many_processes(),
            rank=self._first_rank,
        )

    def _release(self) -> None:
        self._drain.join(_DRAIN_TIMEOUT_S)
        for channel in self.channels:
            close_apart(channel.close)  # with all that was sent and never read
        self._status.close()
        wire.close_all((self._pidfd, self._runner_pidfd))
        self._pidfd = self._runner_pidfd = -1
        self._group.remove()
        if not self._isolated:
            shutil.rmtree(self._box, ignore_errors=True)

    def _signal_kill(self) -> None:
        """Kill the runner beside its init, whose own end would only come to it second."""
        for pidfd in (self._runner_pidfd, self._pidfd):
            with suppress(OSError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def _open_living(pid: int, status: socket.socket) -> int:
    """A handle on `pid`, which is surely still the process that said hello."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        raise SandboxUnavailable("it died at once") from None
    poll = select.poll()
    poll.register(status, 0)
    if poll.poll(0):  # only a hang-up is reported without being asked for
        os.close(pidfd)
        raise SandboxUnavailable("it died at once")
    return pidfd


def _open_child(pid: int, parent_pid: int) -> int:
    """A handle on `pid`, which is surely still the child of `parent_pid`."""
    try:
        pidfd = os.pidfd_open(pid)
        stat = kernel_files.read(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):
        raise SandboxUnavailable("it died at once") from None
    if int(stat.rpartition(")")[2].split()[1]) != parent_pid:
        os.close(pidfd)
        raise SandboxUnavailable("it died at once")
    return pidfd


def exit_and_signal(wait_status: int | None) -> tuple[int | None, int | None]:
    """The exit code of a process that ended by itself, or the signal that ended it; neither if
    nobody knows."""
    if wait_status is None:
        return None, None
    if os.WIFSIGNALED(wait_status):
        return None, os.WTERMSIG(wait_status)
    return os.WEXITSTATUS(wait_status), None


def _wait_readable(fd: int, timeout_s: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(timeout_s * 1000))


def _cpu_time_s(pid: int) -> float:
    """User and system time so far of `pid` and its reaped children; 0 once it is gone."""
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    with suppress(OSError):
        fields = kernel_files.read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        return sum(int(field) for field in fields[11:15]) / ticks_per_s
    return 0.0
