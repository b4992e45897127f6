"""The zygote's own process, inside the outer sandbox: imports once, then forks runners for ever.

It runs no author's code, has a single thread, and keeps `spare` runners waiting so that a spawn
costs a message instead of a fork. It makes them while no runner is at work: a fork takes processors
from whoever is being judged, and measured, at the time.
"""

import gc
import importlib
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass

from kernelbot.harness.pages import gather_pages
from kernelbot.harness.preload import preload
from kernelbot.harness.sandbox import init, kernel, wire
from kernelbot.harness.sandbox.model import Flavour, Surroundings

_REAP_EVERY_MS = 1000


def main(argv: list[str]) -> None:
    """`CONTROL_FD FLAVOUR CUDA_ON_CPU SPARE ISOLATED LASTING CPUS`, from the zygote's starter."""
    control_fd, flavour, cuda_on_cpu, spare, isolated, lasting, cpus = argv
    os.environ.pop("PWD", None)  # bubblewrap's own addition
    if isolated == "1":
        _enter_own_pid_namespace()
    control = socket.socket(fileno=int(control_fd))
    around = Surroundings(isolated == "1", tuple(map(int, filter(None, cpus.split(",")))))
    forker = _Forker(control, around, spare=int(spare))
    preload(Flavour(flavour), cuda_on_cpu == "1")
    importlib.import_module("kernelbot.harness.ranks.family")  # so that no runner has to
    gc.collect()
    gc.freeze()
    if lasting == "1":
        gather_pages()
    forker.run()


def _enter_own_pid_namespace() -> None:
    """Go on in a child that is pid 1 of a namespace this sandbox owns; the parent only waits.

    bubblewrap's own pid namespace belongs to a user namespace above ours, so that a process which
    has made a namespace for its next child could not find back to it.
    """
    kernel.unshare(kernel.CLONE_NEWPID)
    pid = os.fork()
    if pid != 0:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xFF)


@dataclass(frozen=True)
class _Spare:
    """A runner that waits for its order."""

    pid: int
    lane: socket.socket


class _Forker:
    def __init__(self, control: socket.socket, around: Surroundings, *, spare: int) -> None:
        self._control = control
        self._around = around
        self._wanted = spare
        self._isolated = around.isolated
        self._spares: list[_Spare] = []
        self._at_work: set[int] = set()
        self._clients: dict[int, socket.socket] = {}
        self._own_pid_namespace = -1
        if around.isolated:
            self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY)

    def run(self) -> None:
        """Serve until the starter closes the control socket."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        awake, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(awake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        while self._make_spare():
            pass
        wire.send(self._control, {"ready": True})
        made = False
        while True:
            for fd, _ in poll.poll(0 if made else _REAP_EVERY_MS):
                if fd == awake:
                    os.read(awake, 4096)
                elif fd == self._control.fileno():
                    if not self._accept(poll):
                        return
                else:
                    self._serve(fd, poll)
            self._reap()
            made = self._make_spare()

    def _accept(self, poll: select.poll) -> bool:
        packet = wire.receive(self._control)
        if packet is None:
            return False
        client = socket.socket(fileno=packet.fds[0])
        wire.send(client, {"isolated": self._isolated})
        self._clients[client.fileno()] = client
        poll.register(client, select.POLLIN)
        return True

    def _serve(self, fd: int, poll: select.poll) -> None:
        packet = wire.receive(self._clients[fd])
        if packet is None:
            poll.unregister(fd)
            self._clients.pop(fd).close()
            return
        try:
            runner = self._spares.pop(0) if self._spares else self._fork_runner()
            with runner.lane:
                wire.send(runner.lane, packet.body, packet.fds)
            self._at_work.add(runner.pid)
        except OSError as error:
            self._refuse(packet, error)
        finally:
            wire.close_all(packet.fds)

    def _refuse(self, packet: wire.Packet, error: OSError) -> None:
        with socket.socket(fileno=os.dup(packet.fds[init.STATUS])) as status, suppress(OSError):
            wire.send(status, {"error": f"no runner could be started: {error}"})

    def _make_spare(self) -> bool:
        """One at most, so that whoever asks meanwhile is served in between; whether it was."""
        if self._at_work or len(self._spares) >= self._wanted:
            return False
        try:
            self._spares.append(self._fork_runner())
        except OSError as error:
            sys.stderr.write(f"no spare runner: {error}\n")
            return False
        return True

    def _fork_runner(self) -> _Spare:
        lane, far = wire.pair()
        if self._isolated:
            kernel.unshare(kernel.CLONE_NEWPID)  # of the next child; ours stays
        try:
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                init.run_init(far, self._around)
        finally:
            if self._isolated:  # run_init never returns: only the zygote comes here
                kernel.setns(self._own_pid_namespace, kernel.CLONE_NEWPID)
        far.close()
        return _Spare(pid, lane)

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                self._at_work.discard(pid)
