"""The judge's side of a zygote: start it, connect to it, say what is in force, end it."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

from kernelbot.harness.data import wire
from kernelbot.harness.inside.own_folders import inside
from kernelbot.harness.sandbox import cgroups, enclosure
from kernelbot.harness.sandbox.user_map import UserMap
from kernelbot.harness.words.order import Connect, ForkerReady, ForkerReply
from kernelbot.harness.words.sandbox import SandboxUnavailable, ZygoteConfig
from kernelbot.protocol import SandboxMode, SandboxReport

_LAST_WORDS_BYTES = 4096
_CLOSE_TIMEOUT_S = 0.5
_KILL_TIMEOUT_S = 4.0
"""How long all runners may take to die before bubblewrap is killed, which may be stopped."""
_ISOLATION = (
    "bubblewrap",
    "unprivileged user",
    "user, mount, pid, ipc, network and uts namespaces",
    "read-only system",
    "private /box, /tmp and /dev/shm",
    "no network",
    "no capabilities",
    "no_new_privs",
    "seccomp",
    "the problem's own code in a sandbox like the author's",
)
_NO_NATIVE_MARKS = (
    "marks of time set by native code: there is no C compiler (install the package `gcc`), so "
    "times of short kernels are less sharp"
)
RLIMITS = "rlimits: cpu time, open files, file size, no core files"


class Zygote:
    """A process that forks single-use runners. Use `start`; one per flavour is enough."""

    def __init__(
        self,
        config: ZygoteConfig,
        process: subprocess.Popen[bytes],
        control: socket.socket,
        log: int,
    ) -> None:
        self._config = config
        self._process = process
        self._control = control
        self._log = log
        self.pid = 0
        """The process that forks runners; 0 until it is ready."""
        self._ready = False
        self._native_marks = True
        self._lock = threading.Lock()

    @classmethod
    def start(cls, config: ZygoteConfig) -> "Zygote":
        """Start a zygote and return at once; its imports go on meanwhile.

        Raises `SandboxUnavailable` if a tool is missing.
        """
        isolated = config.mode is SandboxMode.REQUIRED
        if isolated:
            enclosure.check_tools()
        control, far = wire.pair()
        control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        log = os.memfd_create("zygote-log")
        inner = _python_command(config, far.fileno(), isolated=isolated)
        etc_fds = enclosure.open_etc_files() if isolated else {}
        users = UserMap() if isolated and os.geteuid() == 0 else None
        mapping, user_fds = (users.arguments, users.fds) if users else ((), ())
        try:
            command = inner
            if isolated:
                command = enclosure.build_command(config, inner, etc_fds, mapping)
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=enclosure.starting_environment() if isolated else _plain_environment(config),
                cwd="/",
                pass_fds=(far.fileno(), *etc_fds.values(), *user_fds),
                start_new_session=True,  # a Ctrl-C is for the judge, which then ends us
            )
        except BaseException:
            if users is not None:
                users.abandon()
            raise
        finally:
            far.close()
            wire.close_all(tuple(etc_fds.values()))
        if users is not None:
            users.write_soon(enclosure.outside_uid(), enclosure.INSIDE_UID, log)
        return cls(config, process, control, log)

    def has_answered(self, within_s: float) -> bool:
        """Whether `wait_ready` returns or raises at once."""
        return self._ready or bool(select.select([self._control], [], [], within_s)[0])

    def wait_ready(self, timeout_s: float) -> None:
        """Return once runners can be had. Raises `SandboxUnavailable` with its last words."""
        with self._lock:
            if self._ready:
                return
            self._control.settimeout(timeout_s)
            try:
                packet = wire.receive(self._control, ForkerReply)
            except TimeoutError:
                raise SandboxUnavailable(
                    f"The sandbox was not ready within {timeout_s:g} s. {self._last_words()}"
                ) from None
            finally:
                self._control.settimeout(None)
            if packet is None or not isinstance(packet.message, ForkerReady):
                detail = _advise(self._last_words())
                raise SandboxUnavailable(f"The sandbox could not be set up: {detail}")
            self.pid = packet.sender_pid
            self._native_marks = packet.message.native_marks
            self._ready = True

    def connect(self) -> socket.socket:
        """A new connection for a `RunnerClient`, here or in another process. Never waits."""
        mine, far = wire.pair()
        with far:
            try:
                wire.send(self._control, Connect(), (far.fileno(),))
            except OSError as error:
                mine.close()
                raise SandboxUnavailable(f"The zygote is gone. {self._last_words()}") from error
        return mine

    def report(self) -> SandboxReport:
        """What is in force around every runner of this zygote, and what isn't, with the reason."""
        groups = cgroups.detect()
        in_force = [*groups.in_force, RLIMITS]
        missing = list(groups.missing)
        if not self._native_marks:
            missing.append(_NO_NATIVE_MARKS)
        if self._config.mode is SandboxMode.NONE:
            missing = ["everything else: the operator chose to run without a sandbox", *missing]
            return SandboxReport("none", tuple(in_force), tuple(missing))
        owner = enclosure.outside_uid()
        whose = "of its own" if os.geteuid() == 0 else "who started it"
        in_force.append(f"outside it is the user {whose}: {owner}")
        return SandboxReport("bubblewrap", (*_ISOLATION, *in_force), tuple(missing))

    def close(self) -> None:
        """End the zygote and every runner it has. Idempotent."""
        self._control.close()
        if not self._ready and self._process.poll() is None:
            self._kill()  # it has no runner yet, and may be importing for seconds
        try:
            self._process.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._kill()
        if self._log >= 0:
            os.close(self._log)
            self._log = -1

    def _kill(self) -> None:
        if self.pid not in (0, self._process.pid):
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            # Bubblewrap ends when all in it has, but wouldn't wait if it was killed as well.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_KILL_TIMEOUT_S)
                return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _last_words(self) -> str:
        deadline = time.monotonic() + 1
        while self._process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        size = os.fstat(self._log).st_size
        start = max(0, size - _LAST_WORDS_BYTES)
        words = os.pread(self._log, _LAST_WORDS_BYTES, start).decode(errors="replace").strip()
        return f"It said: {words}" if words else "It said nothing."


def _python_command(config: ZygoteConfig, control_fd: int, *, isolated: bool) -> list[str]:
    path = enclosure.harness_path(isolated=isolated)
    program = (
        f"import sys; sys.path.insert(0, {path!r}); "
        "from kernelbot.harness.inside import forker; forker.main(sys.argv[1:])"
    )
    arguments = [control_fd, config.flavour, int(config.cuda_on_cpu), config.spare, int(isolated)]
    arguments += [int(config.lasting), ",".join(map(str, config.cpus))]
    python = inside(sys.executable) if isolated else sys.executable
    return [python, "-I", "-c", program, *map(str, arguments)]


def _plain_environment(config: ZygoteConfig) -> dict[str, str]:
    """Without a sandbox: as clean, but for what only exists inside one."""
    environment = enclosure.clean_environment(config, isolated=False)
    environment["HOME"] = environment["TMPDIR"] = "/tmp"  # noqa: S108 - each runner sets its own
    return environment


def _advise(detail: str) -> str:
    """Add what to do to the known ways in which a system refuses."""
    lowered = detail.lower()
    if "user namespace" in lowered or "uid map" in lowered or "unshare" in lowered:
        return (
            f"{detail} Allow unprivileged user namespaces by sysctl: "
            "kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0, "
            "kernel.apparmor_restrict_unprivileged_userns=0."
        )
    return detail
