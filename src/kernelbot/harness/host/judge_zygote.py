"""The judges' zygote: a trusted process that forks one judge per job.

No stranger's code runs in a judge: the author's is in runners, the problem's in its cage. Nor does
a judge build or compare their data, so it has no framework: a small process is quickly forked, and
gone.
"""

import contextlib
import importlib
import math
import os
import select
import socket
import subprocess
import sys
import time
from typing import NoReturn

from kernelbot.harness.archive import sources_sha256
from kernelbot.harness.data import wire
from kernelbot.harness.data.channel import Channel, ChannelClosed, ChannelError, ChannelTimeout
from kernelbot.harness.gpu.judge_device import open_ahead
from kernelbot.harness.host.own_command import harness_command, harness_environment
from kernelbot.harness.host.zygote_messages import (
    AskIfAlive,
    KillJudge,
    ReleaseJudge,
    StartJudge,
    ZygoteAlive,
    ZygoteReady,
    ZygoteReply,
    ZygoteRequest,
)
from kernelbot.harness.inside.gpu.driver import Driver
from kernelbot.harness.inside.marks.marks import start_building
from kernelbot.harness.inside.pages import gather_pages
from kernelbot.harness.inside.prefork import ForkedChild, Prefork
from kernelbot.harness.inside.preload import prepare_forks
from kernelbot.harness.inside.warm_up import start_a_thread
from kernelbot.harness.judge.build.place import learn_place
from kernelbot.harness.judge.host_messages import HostMessage, Order
from kernelbot.harness.judge.system import detect
from kernelbot.harness.judge.warm_up import warm_up
from kernelbot.harness.sandbox import RunnerClient, cgroups
from kernelbot.harness.timing.clocks import CacheFlusher, last_level_cache_bytes
from kernelbot.harness.words.cage_messages import CageReply
from kernelbot.harness.words.message import prepare
from kernelbot.harness.words.order import ForkerReply, RunnerStatus
from kernelbot.harness.words.runner_messages import RunnerReply
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import JobSpec, ProgressEvent, RunResult, Vendor, precompile_decoders
from kernelbot.protocol.garbage import loading
from kernelbot.protocol.process_names import ProcessName, name_process

_SEND_S = 1.0
_RECEIVE_S = 1.0
_CLOSE_S = 5.0
_TIDY_UP_S = 2.0
_LEAVE_S = 10.0
"""For a judge to end the problem's process, which the kernel may take seconds to do."""
_LOOK_LATER_S = 5.0
"""A judge that ends in order has removed its runners' groups, but for one that took too long; and
to look takes as long as a tenth of judging something small."""
_ANSWER_S = 5.0
"""Whoever needs longer to say a word is of no more use."""
_HEARD_BY_JUDGES = (
    *(ZygoteRequest, HostMessage),
    *(ForkerReply, RunnerStatus, RunnerReply, CageReply),
)
RUNNERS_AHEAD = 2
"""Those that every native job needs: one for the problem's code, one for the author's."""


def run_zygote(
    control_fd: int,
    runners_fd: int,
    flavour: str,
    spare: int,
    lasting: bool,
    vendor: Vendor,
) -> None:
    """The zygote's main loop, until the host hangs up. `spare` judges wait for their job.

    `runners_fd`: a connection to the runners' zygote, which has the frameworks of this `flavour`.
    `lasting`: as in `ZygoteConfig`.
    """
    name_process(ProcessName.JUDGES, flavour)
    control = Channel(socket.socket(fileno=control_fd))
    runners = socket.socket(fileno=runners_fd)
    with loading():
        start_building()
        importlib.import_module("kernelbot.harness.judge.process")  # so that no judge has to
        for kind in (JobSpec, Order, ProgressEvent, RunResult):
            precompile_decoders(kind)
        for family in _HEARD_BY_JUDGES:
            prepare(family)
        prepare_forks(warm_up)
        detect()
        sources_sha256()
        if lasting:
            learn_place()
        zygote = _Zygote(control, runners, CacheFlusher(last_level_cache_bytes()), spare, vendor)
    if lasting:
        gather_pages()
    zygote.run()


class _Zygote:
    def __init__(
        self,
        control: Channel,
        runners: socket.socket,
        flusher: CacheFlusher,
        spare: int,
        vendor: Vendor,
    ) -> None:
        self._control = control
        self._prefork = Prefork(
            spare,
            lambda far: _become_judge(far, runners, flusher, vendor, self._prefork.is_idle),
        )
        self._judges: dict[str, ForkedChild] = {}
        self._leaving: dict[ForkedChild, float] = {}
        """Judges that have given their result or were killed, and until when they may tidy up."""
        self._look_at_s = math.inf
        """When to look whether a group is left, by `time.monotonic()`; never, if none can be."""

    def run(self) -> None:
        """Serve until the host hangs up; then kill all judges, whose runners end with them."""
        self._prefork.watch(self._control.sock, self._receive)
        self._prefork.fill()
        try:
            self._control.send(ZygoteReady())
            self._prefork.serve(self._tidy_up)
        except ChannelClosed:
            pass
        finally:
            self._prefork.kill_all()
            cgroups.remove_leftovers(_TIDY_UP_S)

    def _receive(self) -> None:
        try:
            request, fds = self._control.receive(ZygoteRequest, time.monotonic() + _RECEIVE_S)
        except ChannelTimeout:
            return
        except ChannelClosed:
            self._prefork.stop()
            return
        if isinstance(request, KillJudge):
            self._kill(request.key)
        elif isinstance(request, ReleaseJudge):
            self._let_go(request.key)
        elif isinstance(request, StartJudge):
            self._start(request, fds)
        else:
            self._control.send(ZygoteAlive())

    def _start(self, request: StartJudge, fds: list[int]) -> None:
        try:
            judge = self._prefork.spawn(undisturbed=request.undisturbed)
            self._judges[request.key] = judge
        except OSError as error:  # of this one only: others are being judged
            print(f"no judge could be started: {error}", file=sys.stderr, flush=True)
            wire.close_all(fds)
            return
        with judge.control, contextlib.suppress(OSError):  # the host notices a dead judge
            wire.send(judge.control, request, tuple(fds))
        wire.close_all(fds)

    def _kill(self, key: str) -> None:
        if (judge := self._judges.pop(key, None)) is not None:
            self._prefork.kill(judge)
            self._leaving[judge] = time.monotonic() + _LEAVE_S
            self._look_at_s = 0.0  # its runners' groups are left

    def _let_go(self, key: str) -> None:
        if (judge := self._judges.pop(key, None)) is not None:
            self._leaving[judge] = time.monotonic() + _LEAVE_S

    def _tidy_up(self) -> None:
        """Kill judges that don't leave, and remove the groups of those that are gone: else each
        would leave one while there always is work. What else is left goes while none is at work."""
        for judge in [judge for judge in self._leaving if not self._prefork.is_at_work(judge)]:
            del self._leaving[judge]
            is_gone = cgroups.remove_judge_group(judge.pid)
            soon_s = time.monotonic() + (_LOOK_LATER_S if is_gone else 0.0)
            self._look_at_s = min(self._look_at_s, soon_s)
        for judge, until in self._leaving.items():
            if time.monotonic() > until:
                self._prefork.kill(judge)
        if self._prefork.is_idle and time.monotonic() >= self._look_at_s:
            is_tidy = cgroups.remove_leftovers()
            self._look_at_s = math.inf if is_tidy else 0.0


def _become_judge(
    control: socket.socket,
    runners: socket.socket,
    flusher: CacheFlusher,
    vendor: Vendor,
    alone: bool,
) -> NoReturn:
    code = 1
    name_process(ProcessName.JUDGE)
    try:
        _judge_one(control, runners, flusher, vendor, alone)
        code = 0
    except BaseException:  # noqa: BLE001 (nothing may escape into the zygote's own loop)
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


def _judge_one(
    control: socket.socket,
    runners: socket.socket,
    flusher: CacheFlusher,
    vendor: Vendor,
    alone: bool,
) -> None:
    """Do ahead of need what every job needs; then wait for one, and judge it.

    `alone`: no other judge is at work. Else what is done here comes before somebody's job rather
    than while nobody waits, and to warm up takes a processor more than it saves: only who is to
    measure does so.
    """
    from kernelbot.harness.judge.process import judge_and_report

    group = cgroups.JudgeGroup()
    driver: Driver | None = None
    is_warm = False
    with contextlib.closing(RunnerClient.connect(runners)) as client:
        with contextlib.suppress(SandboxUnavailable):  # the job will say so, if it still is so
            client.prepare(RUNNERS_AHEAD)
            if not _has_order(control):
                if alone:
                    warm_up()
                    start_a_thread()
                    is_warm = True
                driver = open_ahead(vendor)
                client.await_prepared()
        packet = wire.receive(control, ZygoteRequest)
        control.close()
        if packet is not None:  # else the zygote ended before there was a job
            start = packet.message
            if not is_warm and isinstance(start, StartJudge) and start.undisturbed:
                warm_up()
            job = socket.socket(fileno=packet.fds[0])
            judge_and_report(job, client, group, flusher, driver)


def _has_order(control: socket.socket) -> bool:
    return bool(select.select([control], [], [], 0)[0])


class JudgeZygote:
    """The host's handle of a judges' zygote."""

    def __init__(
        self,
        flavour: str,
        env: dict[str, str],
        runners: socket.socket,
        spare: int = 1,
        *,
        lasting: bool = False,
        vendor: Vendor = Vendor.CPU,
    ) -> None:
        """`runners`: a connection to the zygote of the judges' runners, to be taken over."""
        mine, theirs = socket.socketpair()
        with theirs, runners:
            command = [
                *harness_command(), "judges", str(theirs.fileno()), str(runners.fileno()), flavour,
                str(spare), str(int(lasting)), vendor.value,
            ]  # fmt: skip
            self._process = subprocess.Popen(
                command,
                env={**harness_environment(), **env},
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=(theirs.fileno(), runners.fileno()),
            )
        self._control = Channel(mine)
        self._is_ready = False

    def has_answered(self, within_s: float) -> bool:
        """Whether `wait_ready` returns or raises at once."""
        return self._is_ready or bool(select.select([self._control], [], [], within_s)[0])

    def wait_ready(self, timeout_s: float) -> None:
        """Raises `SandboxUnavailable` if it doesn't come up."""
        try:
            self._control.receive(ZygoteReply, time.monotonic() + timeout_s)
        except ChannelError as error:
            raise SandboxUnavailable(
                f"The judge process did not start ({error}); its last words are on stderr."
            ) from error
        self._is_ready = True

    def start(self, key: str, *, undisturbed: bool) -> socket.socket:
        """Have a judge; the socket to talk to it. `undisturbed`: see `StartJudge`."""
        mine, theirs = socket.socketpair()
        with theirs:
            try:
                self._control.send(
                    StartJudge(key, undisturbed),
                    (theirs.fileno(),),
                    time.monotonic() + _SEND_S * 10,
                )
            except ChannelError:
                mine.close()
                raise
        return mine

    def kill(self, key: str) -> None:
        """End the judge of a job; harmless when it has ended by itself."""
        with contextlib.suppress(ChannelError):
            self._control.send(KillJudge(key), (), time.monotonic() + _SEND_S)

    def let_go(self, key: str) -> None:
        """A job's judge has given its result: it ends by itself, once it has tidied up."""
        with contextlib.suppress(ChannelError):
            self._control.send(ReleaseJudge(key), (), time.monotonic() + _SEND_S)

    def has_ended(self) -> bool:
        """Whether the zygote is dead, though nobody has closed it.

        It is asked: one that was killed may be noticed by its sockets long before the kernel is
        done with it.
        """
        deadline = time.monotonic() + _ANSWER_S
        try:
            self._control.send(AskIfAlive(), (), deadline)
            self._control.receive(ZygoteReply, deadline)
        except ChannelError:
            return True
        return False

    def close(self) -> None:
        """End the zygote and all of its judges."""
        self._control.close()
        if not self._is_ready:
            self._process.kill()  # no judge to end first, and it may be importing for seconds
        try:
            self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
