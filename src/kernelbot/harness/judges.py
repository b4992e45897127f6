"""The judges' zygote: a trusted process with the frameworks loaded that forks one judge per job.

Reference code runs in the forked judge and dies with it, so that no job finds another's state.
"""

import contextlib
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
from kernelbot.harness.preload import preload
from kernelbot.harness.sandbox import SandboxUnavailable

_REAP_S = 1.0


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


def run_zygote(control_fd: int, flavour: str, cuda_on_cpu: bool) -> None:
    """The zygote's main loop, until the host hangs up."""
    control = Channel(socket.socket(fileno=control_fd))
    preload(flavour, cuda_on_cpu)
    flusher = CacheFlusher(last_level_cache_bytes())
    children = _Children({})
    try:
        control.send({"op": "ready"})
        while True:
            with contextlib.suppress(ChannelTimeout):
                message, fds = control.receive(time.monotonic() + _REAP_S)
                _obey(message, fds, children, control, flusher)
            children.reap()
    except ChannelClosed:
        pass
    finally:
        for key in list(children.by_id):
            children.kill(key)


def _obey(
    message: dict[str, Any],
    fds: list[int],
    children: _Children,
    control: Channel,
    flusher: CacheFlusher,
) -> None:
    if message["op"] == "kill":
        children.kill(message["id"])
        return
    pid = os.fork()
    if pid == 0:
        _become_judge(fds, control, flusher)
    for fd in fds:
        os.close(fd)
    children.by_id[message["id"]] = pid


def _become_judge(fds: list[int], control: Channel, flusher: CacheFlusher) -> None:
    code = 1
    try:
        control.close()
        from kernelbot.harness.judging import judge_and_report

        judge_and_report(socket.socket(fileno=fds[0]), socket.socket(fileno=fds[1]), flusher)
        code = 0
    except BaseException:  # noqa: BLE001 (nothing may escape into the zygote's own loop)
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


class JudgeZygote:
    """The host's handle of a judges' zygote."""

    def __init__(self, flavour: str, cuda_on_cpu: bool, env: dict[str, str]) -> None:
        mine, theirs = socket.socketpair()
        with theirs:
            command = [
                *harness_command(), "judges", str(theirs.fileno()), flavour, str(int(cuda_on_cpu))
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
            self._control.send(
                {"op": "judge", "id": key},
                (theirs.fileno(), client.fileno()),
                time.monotonic() + _REAP_S * 10,
            )
        return mine

    def kill(self, key: str) -> None:
        """End the judge of a job; harmless when it has ended by itself."""
        with contextlib.suppress(ChannelError):
            self._control.send({"op": "kill", "id": key}, (), time.monotonic() + _REAP_S)

    def close(self) -> None:
        """End the zygote and all of its judges."""
        self._control.close()
        if not self._has_judged:
            self._process.kill()  # no judge to end first, and it may be importing for seconds
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
