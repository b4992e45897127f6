"""The zygote's own process, inside the outer sandbox: imports once, then forks runners for ever.

It runs no author's code, has a single thread, and keeps `spare` runners waiting so that a spawn
costs a message instead of a fork.
"""

import gc
import importlib
import os
import select
import signal
import socket
import sys
from contextlib import suppress

from kernelbot.harness.preload import preload
from kernelbot.harness.sandbox import init, kernel, wire
from kernelbot.harness.sandbox.model import Flavour

_REAP_EVERY_MS = 1000


def main(argv: list[str]) -> None:
    """`CONTROL_FD FLAVOUR CUDA_ON_CPU SPARE ISOLATED CPUS`, as the zygote's starter passes them."""
    control_fd, flavour, cuda_on_cpu, spare, isolated, cpus = argv
    if cpus:
        os.sched_setaffinity(0, map(int, cpus.split(",")))
    os.environ.pop("PWD", None)  # bubblewrap's own addition
    if isolated == "1":
        _enter_own_pid_namespace()
    control = socket.socket(fileno=int(control_fd))
    forker = _Forker(control, spare=int(spare), isolated=isolated == "1")
    preload(Flavour(flavour), cuda_on_cpu == "1")
    importlib.import_module("kernelbot.harness.ranks.family")  # so that no runner has to
    gc.collect()
    gc.freeze()
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


class _Forker:
    def __init__(self, control: socket.socket, *, spare: int, isolated: bool) -> None:
        self._control = control
        self._spare = spare
        self._isolated = isolated
        self._lanes: list[socket.socket] = []
        self._clients: dict[int, socket.socket] = {}
        self._own_pid_namespace = -1
        if isolated:
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
        self._replenish()
        wire.send(self._control, {"ready": True})
        while True:
            for fd, _ in poll.poll(_REAP_EVERY_MS):
                if fd == awake:
                    os.read(awake, 4096)
                elif fd == self._control.fileno():
                    if not self._accept(poll):
                        return
                else:
                    self._serve(fd, poll)
            self._reap()
            self._replenish()

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
            lane = self._lanes.pop(0) if self._lanes else self._fork_runner()
            with lane:
                wire.send(lane, packet.body, packet.fds)
        except OSError as error:
            self._refuse(packet, error)
        finally:
            wire.close_all(packet.fds)

    def _refuse(self, packet: wire.Packet, error: OSError) -> None:
        with socket.socket(fileno=os.dup(packet.fds[init.STATUS])) as status, suppress(OSError):
            wire.send(status, {"error": f"no runner could be started: {error}"})

    def _replenish(self) -> None:
        while len(self._lanes) < self._spare:
            try:
                self._lanes.append(self._fork_runner())
            except OSError as error:
                sys.stderr.write(f"no spare runner: {error}\n")
                return

    def _fork_runner(self) -> socket.socket:
        lane, far = wire.pair()
        if self._isolated:
            kernel.unshare(kernel.CLONE_NEWPID)  # of the next child; ours stays
        try:
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                init.run_init(far, isolated=self._isolated)
        finally:
            if self._isolated:  # run_init never returns: only the zygote comes here
                kernel.setns(self._own_pid_namespace, kernel.CLONE_NEWPID)
        far.close()
        return lane

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
