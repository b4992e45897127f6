"""The judges' zygote: a trusted process with the frameworks loaded that forks one judge per job.

Reference code runs in the forked judge and dies with it, so that no job finds another's state.
"""

import contextlib
import gc
import importlib
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelbot.harness.channel import Channel, ChannelClosed, ChannelError, ChannelTimeout
from kernelbot.harness.clocks import CacheFlusher, last_level_cache_bytes
from kernelbot.harness.pages import gather_pages
from kernelbot.harness.preload import preload, rehearse
from kernelbot.harness.sandbox import SandboxUnavailable
from kernelbot.protocol import JobSpec, learn

_REAP_S = 1.0
_CLOSE_S = 5.0
_DYING_S = 0.1
"""A process closes its sockets, which others notice, a little before it counts as dead."""


def harness_command() -> list[str]:
    """How to start this harness again: the zipapp itself, or the module of the source tree."""
    root = Path(__file__).resolve().parents[2]
    if root.is_file():
        return [sys.executable, str(root)]
    return [sys.executable, "-m", "kernelbot.harness"]


def harness_environment() -> dict[str, str]:
    """Our environment, with the source tree findable."""
    root = Path(__file__).resolve().parents[2]
    kept = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{kept}" if kept else str(root)}


@dataclass
class _Children:
    by_id: dict[str, int]

    def reap(self) -> None:
        """Collect those that have ended."""
        for key, pid in list(self.by_id.items()):
            if os.waitpid(pid, os.WNOHANG)[0]:
                del self.by_id[key]

    def kill(self, key: str) -> None:
        """A child is ours until reaped, so its pid can't have been given to another."""
        if (pid := self.by_id.pop(key, None)) is not None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def run_zygote(control_fd: int, flavour: str, cuda_on_cpu: bool, spare: int, lasting: bool) -> None:
    """The zygote's main loop, until the host hangs up. `spare` judges wait for their job.

    `lasting`: as in `ZygoteConfig`.
    """
    control = Channel(socket.socket(fileno=control_fd))
    preload(flavour, cuda_on_cpu)
    importlib.import_module("kernelbot.harness.judging")  # so that no judge has to
    learn(JobSpec)
    zygote = _Zygote(control, CacheFlusher(last_level_cache_bytes()), spare)
    gc.collect()
    gc.freeze()
    if lasting:
        gather_pages()
    zygote.replenish()
    try:
        control.send({"op": "ready"})
        while True:
            with contextlib.suppress(ChannelTimeout):
                message, fds = control.receive(time.monotonic() + _REAP_S)
                zygote.obey(message, fds)
            zygote.children.reap()
            zygote.replenish()
    except ChannelClosed:
        pass
    finally:
        zygote.end()


class _Zygote:
    def __init__(self, control: Channel, flusher: CacheFlusher, spare: int) -> None:
        self.children = _Children({})
        self._control = control
        self._flusher = flusher
        self._spare = spare
        self._waiting: list[tuple[int, Channel]] = []

    def replenish(self) -> None:
        """Fork judges ahead of need, while none is at work that this could take processors from."""
        while not self.children.by_id and len(self._waiting) < self._spare:
            self._waiting.append(self._fork())

    def obey(self, message: dict[str, Any], fds: list[int]) -> None:
        """Start or kill a judge."""
        if message["op"] == "kill":
            self.children.kill(message["id"])
            return
        pid, lane = self._waiting.pop(0) if self._waiting else self._fork()
        self.children.by_id[message["id"]] = pid
        with contextlib.suppress(ChannelClosed):  # a dead judge is noticed by the host
            lane.send({"op": "judge"}, fds)
        lane.close()
        for fd in fds:
            os.close(fd)

    def end(self) -> None:
        """Kill all judges."""
        for key in list(self.children.by_id):
            self.children.kill(key)
        for pid, lane in self._waiting:
            lane.close()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _fork(self) -> tuple[int, Channel]:
        mine, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            mine.close()
            for _, lane in self._waiting:
                lane.close()
            self._control.close()
            _become_judge(Channel(theirs), self._flusher)
        theirs.close()
        return pid, Channel(mine)


def _become_judge(lane: Channel, flusher: CacheFlusher) -> None:
    code = 1
    try:
        from kernelbot.harness.judging import judge_and_report

        rehearse()
        _, fds = lane.receive()
        lane.close()
        judge_and_report(socket.socket(fileno=fds[0]), socket.socket(fileno=fds[1]), flusher)
        code = 0
    except ChannelClosed:
        code = 0  # the zygote ended before there was a job
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
        """Raises `SandboxUnavailable` where it doesn't come up."""
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
                    time.monotonic() + _REAP_S * 10,
                )
            except ChannelError:
                mine.close()
                raise
        return mine

    def kill(self, key: str) -> None:
        """End the judge of a job; harmless when it has ended by itself."""
        with contextlib.suppress(ChannelError):
            self._control.send({"op": "kill", "id": key}, (), time.monotonic() + _REAP_S)

    def has_ended(self) -> bool:
        """Whether the zygote is dead, though nobody has closed it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_DYING_S)
        return self._process.returncode is not None

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
