"""The judges' zygote: a trusted process with the frameworks loaded that forks one judge per job.

No stranger's code runs in a judge: the author's is in runners, the problem's in its cage.
"""

import contextlib
import gc
import importlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

from kernelbot.harness.host.pages import gather_pages
from kernelbot.harness.host.preload import preload, warm_up
from kernelbot.harness.sandbox import SandboxUnavailable, cgroups, wire
from kernelbot.harness.sandbox.channel import (
    Channel,
    ChannelClosed,
    ChannelError,
    ChannelTimeout,
)
from kernelbot.harness.sandbox.prefork import Child, Prefork
from kernelbot.harness.timing.clocks import CacheFlusher, last_level_cache_bytes
from kernelbot.protocol import JobSpec, precompile_decoders
from kernelbot.protocol.environment import passed_on

_SEND_S = 1.0
_RECEIVE_S = 1.0
_CLOSE_S = 5.0
_TIDY_UP_S = 2.0
_ANSWER_S = 5.0
"""Whoever needs longer to say a word is of no more use."""


def harness_command() -> list[str]:
    """How to start this harness again: the zipapp itself, or the module of the source tree."""
    root = Path(__file__).resolve().parents[2]
    if root.is_file():
        return [sys.executable, str(root)]
    return [sys.executable, "-m", "kernelbot.harness"]


def harness_environment() -> dict[str, str]:
    """What of our environment goes on, with the source tree findable."""
    root = Path(__file__).resolve().parents[2]
    kept = os.environ.get("PYTHONPATH")
    return {
        **passed_on(os.environ),
        "PYTHONPATH": f"{root}{os.pathsep}{kept}" if kept else str(root),
    }


def run_zygote(control_fd: int, flavour: str, cuda_on_cpu: bool, spare: int, lasting: bool) -> None:
    """The zygote's main loop, until the host hangs up. `spare` judges wait for their job.

    `lasting`: as in `ZygoteConfig`.
    """
    control = Channel(socket.socket(fileno=control_fd))
    preload(flavour, cuda_on_cpu)
    importlib.import_module("kernelbot.harness.judge.process")  # so that no judge has to
    precompile_decoders(JobSpec)
    zygote = _Zygote(control, CacheFlusher(last_level_cache_bytes()), spare)
    gc.collect()
    gc.freeze()
    if lasting:
        gather_pages()
    zygote.run()


class _Zygote:
    def __init__(self, control: Channel, flusher: CacheFlusher, spare: int) -> None:
        self._control = control
        self._prefork = Prefork(spare, lambda far: _become_judge(far, flusher))
        self._judges: dict[str, Child] = {}
        self._is_tidy = False

    def run(self) -> None:
        """Serve until the host hangs up; then kill all judges, whose runners end with them."""
        self._prefork.watch(self._control.sock, self._receive)
        self._prefork.fill()
        try:
            self._control.send({"op": "ready"})
            self._prefork.serve(self._tidy_up)
        except ChannelClosed:
            pass
        finally:
            self._prefork.kill_all()
            cgroups.remove_leftovers(_TIDY_UP_S)

    def _receive(self) -> None:
        try:
            message, fds = self._control.receive(time.monotonic() + _RECEIVE_S)
        except ChannelTimeout:
            return
        except ChannelClosed:
            self._prefork.stop()
            return
        if message["op"] == "answer":  # the host asks whether we live
            self._control.send({"op": "here"})
        elif message["op"] == "kill":
            self._kill(message["id"])
        else:
            self._start(message["id"], fds)

    def _start(self, key: str, fds: list[int]) -> None:
        judge = self._judges[key] = self._prefork.take()
        with judge.control, contextlib.suppress(OSError):  # the host notices a dead judge
            wire.send(judge.control, {"op": "judge"}, tuple(fds))
        wire.close_all(fds)

    def _kill(self, key: str) -> None:
        if (judge := self._judges.pop(key, None)) is not None:
            self._prefork.kill(judge)
        self._is_tidy = False

    def _tidy_up(self) -> None:
        """Remove the control groups of judges that were killed, while none is at work."""
        if self._prefork.is_idle and not self._is_tidy:
            self._is_tidy = cgroups.remove_leftovers()


def _become_judge(control: socket.socket, flusher: CacheFlusher) -> NoReturn:
    code = 1
    try:
        from kernelbot.harness.judge.process import judge_and_report

        warm_up()
        packet = wire.receive(control)
        control.close()
        if packet is not None:  # else the zygote ended before there was a job
            job, client = (socket.socket(fileno=fd) for fd in packet.fds)
            judge_and_report(job, client, flusher)
        code = 0
    except BaseException:  # noqa: BLE001 (nothing may escape into the zygote's own loop)
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


class JudgeZygote:
    """The host's handle of a judges' zygote."""

    def __init__(
        self,
        flavour: str,
        cuda_on_cpu: bool,
        env: dict[str, str],
        spare: int = 1,
        *,
        lasting: bool = False,
    ) -> None:
        mine, theirs = socket.socketpair()
        with theirs:
            command = [
                *harness_command(), "judges", str(theirs.fileno()), flavour,
                str(int(cuda_on_cpu)), str(spare), str(int(lasting)),
            ]  # fmt: skip
            self._process = subprocess.Popen(
                command,
                env={**harness_environment(), **env},
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=(theirs.fileno(),),
            )
        self._control = Channel(mine)
        self._has_judged = False

    def wait_ready(self, timeout_s: float) -> None:
        """Raises `SandboxUnavailable` if it doesn't come up."""
        try:
            self._control.receive(time.monotonic() + timeout_s)
        except ChannelError as error:
            raise SandboxUnavailable(
                f"The judge process did not start ({error}); its last words are on stderr."
            ) from error

    def start(self, key: str, client: socket.socket) -> socket.socket:
        """Fork a judge that uses `client`'s runners; the socket to talk to it."""
        self._has_judged = True
        mine, theirs = socket.socketpair()
        with theirs, client:
            try:
                self._control.send(
                    {"op": "judge", "id": key},
                    (theirs.fileno(), client.fileno()),
                    time.monotonic() + _SEND_S * 10,
                )
            except ChannelError:
                mine.close()
                raise
        return mine

    def kill(self, key: str) -> None:
        """End the judge of a job; harmless when it has ended by itself."""
        with contextlib.suppress(ChannelError):
            self._control.send({"op": "kill", "id": key}, (), time.monotonic() + _SEND_S)

    def has_ended(self) -> bool:
        """Whether the zygote is dead, though nobody has closed it.

        It is asked: one that was killed may be noticed by its sockets long before the kernel is
        done with it.
        """
        deadline = time.monotonic() + _ANSWER_S
        try:
            self._control.send({"op": "answer"}, (), deadline)
            self._control.receive(deadline)
        except ChannelError:
            return True
        return False

    def close(self) -> None:
        """End the zygote and all of its judges."""
        self._control.close()
        if not self._has_judged:
            self._process.kill()  # no judge to end first, and it may be importing for seconds
        try:
            self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
