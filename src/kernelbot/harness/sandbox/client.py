"""Asking a zygote for runners."""

import itertools
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from kernelbot.harness.data import wire
from kernelbot.harness.data.descriptors import refuse_descriptors
from kernelbot.harness.sandbox.cgroups import RunnerGroup
from kernelbot.harness.sandbox.device_filter import DeviceFilter
from kernelbot.harness.sandbox.runner import Ends, Runner
from kernelbot.harness.words.order import (
    Connect,
    Connected,
    ForkerReply,
    Hello,
    NotStarted,
    PlaceRunner,
    RunnerEntry,
    RunnerOrder,
    RunnerStatus,
    RunnerWorkspace,
    StartRunner,
)
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import Limits
from kernelbot.protocol.os_errors import in_words

_SPAWN_TIMEOUT_S = 30.0
_PAUSE_S = 0.2
"""After which what kept a runner from being started may have passed."""


class RunnerClient:
    """One connection to a zygote (`Zygote.connect`). Not for several threads at once."""

    def __init__(self, conn: socket.socket) -> None:
        self._conn = conn
        self._isolated: bool | None = None
        self._numbers = itertools.count()
        self._prepared: list[_Prepared] = []
        self.filter: DeviceFilter | None = None
        """Which devices its runners may open, of those that they are shown; None: all."""
        self.undisturbed = True
        """Whether the zygote forks none ahead while runners of this connection are at work."""

    @classmethod
    def connect(cls, other: socket.socket) -> "RunnerClient":
        """A connection of its own to the zygote that somebody's connection leads to. Never waits;
        that the zygote is gone is noticed by who asks for a runner."""
        mine, far = wire.pair()
        with far, suppress(OSError):
            wire.send(other, Connect(), (far.fileno(),))
        return cls(mine)

    def prepare(self, count: int) -> None:
        """Have so many runners of one channel and without a loopback wait for `spawn`: in their
        control groups, where they move meanwhile, and without code of anybody's.

        Nothing happens if there are enough. Raises `SandboxUnavailable`.
        """
        while len(self._prepared) < count:
            self._prepared.append(self._prepare(1))

    def await_prepared(self) -> None:
        """Return once those that wait have moved in; one that couldn't is no longer among them."""
        moving, self._prepared = self._prepared, []
        for prepared in moving:
            with suppress(SandboxUnavailable):
                prepared.wait_ready()
                self._prepared.append(prepared)

    def spawn(
        self, limits: Limits, entry: RunnerEntry = RunnerEntry.SERVE, channels: int = 1
    ) -> Runner:
        """A fresh runner within `limits`, in its cgroup, with no author's code yet.

        `channels`: as many as there are to be ranks. Raises `SandboxUnavailable` when there is none
        to be had, now and on another try.
        """
        return self.order(limits, entry, channels)()

    def order(self, limits: Limits, entry: RunnerEntry, channels: int = 1) -> Callable[[], Runner]:
        """Order a runner, which gets ready meanwhile; who calls what is returned, once, waits for
        it and has it. Both raise `SandboxUnavailable`, as `spawn` does."""

        def once_more() -> Runner:
            time.sleep(_PAUSE_S)  # what was in the way, say, too many descriptors under way, passes
            return self._order(limits, entry, channels).runner()

        try:
            ordered = self._order(limits, entry, channels)
        except SandboxUnavailable:
            return once_more

        def arrived() -> Runner:
            try:
                return ordered.runner()
            except SandboxUnavailable:
                return once_more()

        return arrived

    def _order(self, limits: Limits, entry: RunnerEntry, channels: int) -> "_Prepared":
        if channels == 1 and not entry.has_loopback and self._prepared:
            ordered = self._prepared.pop(0)
        else:
            ordered = self._prepare(channels, connects=entry.has_loopback)
        ordered.send_order(limits, entry, self.filter, undisturbed=self.undisturbed)
        return ordered

    def dismiss(self) -> None:
        """End those that wait. Nothing of them is left behind."""
        runners = []
        for prepared in self._prepared:
            with suppress(SandboxUnavailable):  # then there is none to end
                runners.append(prepared.runner())
        self._prepared.clear()
        for runner in runners:
            runner.terminate()
        for runner in runners:
            runner.kill()

    def close(self) -> None:
        """Close the connection; runners live on, but for those that wait."""
        self.dismiss()
        self._conn.close()

    def _prepare(self, channels: int, *, connects: bool = False) -> "_Prepared":
        isolated = self._zygote_isolates()
        number, group = next(self._numbers), _make_group()
        box = "/box" if isolated else tempfile.mkdtemp(prefix="kernelbot-box-")
        workspace = RunnerWorkspace(box, channels, connects)
        try:
            ends = self._send(number, workspace, group)
        except (SandboxUnavailable, OSError) as error:
            raise _not_started(workspace, group, isolated, error) from error
        return _Prepared(self._conn, number, workspace, group, ends, isolated)

    def _zygote_isolates(self) -> bool:
        if self._isolated is None:
            self._conn.settimeout(_SPAWN_TIMEOUT_S)
            try:
                greeting = wire.receive(self._conn, ForkerReply)
            except TimeoutError:
                raise SandboxUnavailable("The zygote did not answer in time.") from None
            finally:
                self._conn.settimeout(None)
            if greeting is None or not isinstance(greeting.message, Connected):
                raise SandboxUnavailable("The zygote died before it was ready.")
            self._isolated = greeting.message.isolated
        return self._isolated

    def _send(self, number: int, workspace: RunnerWorkspace, group: RunnerGroup) -> Ends:
        task_lists = group.open_task_lists()
        status, far_status = wire.pair()
        status.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        pairs = [socket.socketpair() for _ in range(workspace.channels)]
        channels, far_channels = zip(*pairs, strict=True)
        stdout, far_stdout = os.pipe()
        stderr, far_stderr = os.pipe()
        first, *others = (channel.fileno() for channel in far_channels)
        theirs = (far_status.fileno(), first, far_stdout, far_stderr, *others, *task_lists)
        ends = Ends(status, channels, stdout, stderr)
        try:
            wire.send(self._conn, PlaceRunner(number, workspace), theirs)
        except OSError as error:
            ends.close()
            raise SandboxUnavailable("the zygote is gone") from error
        finally:
            far_status.close()
            for channel in far_channels:
                channel.close()
            wire.close_all((far_stdout, far_stderr, *task_lists))
        return ends


class _Prepared:
    """A runner that moves in, and waits for an order. If anything fails, nothing is left behind."""

    def __init__(
        self,
        conn: socket.socket,
        number: int,
        workspace: RunnerWorkspace,
        group: RunnerGroup,
        ends: Ends,
        isolated: bool,
    ) -> None:
        """`number`: by which the zygote at the other end of `conn` knows it."""
        self._conn = conn
        self._number = number
        self._workspace = workspace
        self._group = group
        self._ends = ends
        self._isolated = isolated
        self._limits = Limits()
        self._pids: dict[str, int] = {}
        self._expected = {"init", "runner"}

    def wait_ready(self) -> None:
        """Return once it is where it was to be by now. Raises `SandboxUnavailable`."""
        is_new = not self._pids
        with self._leaving_nothing():
            _await_hellos(self._ends.status, self._expected, self._pids)
            if is_new:
                self._group.adopt(self._pids["runner"])

    def send_order(
        self,
        limits: Limits,
        entry: RunnerEntry,
        devices: DeviceFilter | None,
        *,
        undisturbed: bool,
    ) -> None:
        """Order it, to be ready soon, within `limits`. `undisturbed`: see `StartRunner`. Raises
        `SandboxUnavailable`."""
        group, self._limits = self._group, limits
        order = RunnerOrder(entry, limits, not group.limits_memory, not group.limits_processes)
        ranks = range(self._workspace.channels) if entry is RunnerEntry.RANKS else ()
        self._expected |= {"ready", *(f"rank {rank}" for rank in ranks)}
        with self._leaving_nothing():
            group.limit(limits)
            if devices is not None:  # before any code of anybody's opens one
                devices.attach(group)
            if not entry.examines:  # it sends data; nobody else has anything to send
                for channel in self._ends.channels:
                    refuse_descriptors(channel)
            start = StartRunner.with_order(self._number, order, undisturbed=undisturbed)
            wire.send(self._conn, start)

    def runner(self) -> Runner:
        """The runner, once it is where it was to be; to be asked for once.

        Raises `SandboxUnavailable`.
        """
        self.wait_ready()
        with self._leaving_nothing():
            for name in self._pids.keys() - {"init", "runner", "ready"}:
                self._group.adopt(self._pids[name])
            pids = {name: pid for name, pid in self._pids.items() if name != "ready"}
            return Runner(
                self._ends, pids, self._group, self._limits, self._workspace.box, self._isolated
            )

    @contextmanager
    def _leaving_nothing(self) -> Iterator[None]:
        try:
            yield
        except (SandboxUnavailable, OSError) as error:
            self._ends.close()
            raise _not_started(self._workspace, self._group, self._isolated, error) from error


def _not_started(
    workspace: RunnerWorkspace, group: RunnerGroup, isolated: bool, error: Exception
) -> SandboxUnavailable:
    """Nothing of it is left behind."""
    group.remove()
    if not isolated:
        shutil.rmtree(workspace.box, ignore_errors=True)
    if isinstance(error, OSError):
        sys.stderr.write(f"no runner: {error!r}\n")
    return SandboxUnavailable(f"No runner could be started: {in_words(error)}")


def _make_group() -> RunnerGroup:
    try:
        return RunnerGroup()
    except OSError as error:
        sys.stderr.write(f"no cgroup: {error!r}\n")
        raise SandboxUnavailable(
            f"The cgroup for a runner could not be made: {in_words(error)}"
        ) from error


def _await_hellos(status: socket.socket, expected: set[str], pids: dict[str, int]) -> None:
    """Add to `pids` the host's process ids of `init`, `runner` and any ranks, as the kernel vouches
    for them."""
    status.settimeout(_SPAWN_TIMEOUT_S)
    while not expected <= set(pids):
        try:
            packet = wire.receive(status, RunnerStatus)
        except TimeoutError:
            raise SandboxUnavailable("it did not answer in time") from None
        if packet is None:
            raise SandboxUnavailable("it died while it was being set up")
        said = packet.message
        if not isinstance(said, Hello):
            raise SandboxUnavailable(said.error if isinstance(said, NotStarted) else str(said))
        pids[said.who] = packet.sender_pid
    status.settimeout(None)
