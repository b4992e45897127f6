"""The zygote's own process, inside the outer sandbox: imports once, then forks runners for ever.

It runs no author's code and has a single thread. See `Prefork` for the runners that wait.
"""

import importlib
import os
import resource
import socket
import sys
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn

from kernelbot.harness.data import wire
from kernelbot.harness.inside import entry, init, kernel, native_init, seccomp
from kernelbot.harness.inside.cuda_on_cpu.inline import CHECKED
from kernelbot.harness.inside.gpu.gpu_model import MODEL, REPORTS, named_model
from kernelbot.harness.inside.marks.marks import are_native
from kernelbot.harness.inside.native_init import NativeInit
from kernelbot.harness.inside.own_folders import ways_back
from kernelbot.harness.inside.own_users import own_users
from kernelbot.harness.inside.pages import gather_pages
from kernelbot.harness.inside.prefork import ForkedChild, Prefork
from kernelbot.harness.inside.preload import preload
from kernelbot.harness.words.cage_messages import CageRequest
from kernelbot.harness.words.message import prepare
from kernelbot.harness.words.order import (
    Connected,
    ForkerReady,
    ForkerRequest,
    NotStarted,
    PlaceRunner,
    SpareReply,
    SpareRequest,
    StartRunner,
)
from kernelbot.harness.words.runner_messages import RunnerRequest
from kernelbot.harness.words.sandbox import Flavour, Surroundings
from kernelbot.protocol.garbage import loading
from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.process_names import ProcessName, name_process


def main(argv: list[str]) -> None:
    """`CONTROL_FD FLAVOUR CUDA_ON_CPU SPARE ISOLATED LASTING CPUS`, from the zygote's starter."""
    control_fd, flavour, cuda_on_cpu, spare, isolated, lasting, cpus = argv
    os.environ.pop("PWD", None)  # bubblewrap's own addition
    name_process(ProcessName.FORKER, flavour)
    if isolated == "1":
        _enter_own_pid_namespace()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    control = socket.socket(fileno=int(control_fd))
    around = Surroundings(isolated == "1", tuple(map(int, filter(None, cpus.split(",")))))
    with loading():
        if isolated == "1":
            native_init.start_building()  # while the imports go on
        model = named_model(os.environ.pop(MODEL, ""))
        checked = os.environ.pop(CHECKED, None) is not None
        reports = os.environ.pop(REPORTS, None) is not None
        # So that no runner has to; before the frameworks, or their objects lie scattered.
        for name in ("cage.examiner", "ranks.family"):
            importlib.import_module(f"kernelbot.harness.inside.{name}")
        preload(Flavour(flavour), cuda_on_cpu == "1", model, checked=checked, reports=reports)
        for family in (ForkerRequest, SpareRequest, SpareReply, RunnerRequest, CageRequest):
            prepare(family)
        ways_back()
        with suppress(seccomp.UnknownArchitecture):  # each runner says so
            for connects in (False, True):
                seccomp.build_filter(connects=connects)
        native = native_init.native_init() if isolated == "1" else None
        forker = _Forker(control, around, native, spare=int(spare))
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


class _Forker:
    def __init__(
        self,
        control: socket.socket,
        around: Surroundings,
        native: NativeInit | None,
        *,
        spare: int,
    ) -> None:
        """`native`: forks runners whose init is native code; without it an init is Python."""
        self._control = control
        self._around = around
        self._native = native
        self._isolated = around.isolated
        self._own_pid_namespace = -1
        if around.isolated:
            self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._users = own_users() if around.isolated else iter(())
        self._user: int | None = None
        """Whom the latest one becomes."""
        self._prefork = Prefork(spare, self._live, self._fork)
        self._clients: dict[socket.socket, dict[int, ForkedChild]] = {}
        """Their runners that wait for an order, by number."""

    def run(self) -> None:
        """Serve until the starter closes the control socket."""
        self._prefork.watch(self._control, self._accept)
        self._prefork.fill()
        wire.send(self._control, ForkerReady(are_native()))
        self._prefork.serve()

    def _accept(self) -> None:
        packet = wire.receive(self._control, ForkerRequest)
        if packet is None:
            self._prefork.stop()
            return
        self._welcome(socket.socket(fileno=packet.fds[0]))

    def _welcome(self, client: socket.socket) -> None:
        with suppress(OSError):  # it is gone already, which is noticed like that of any other
            wire.send(client, Connected(self._isolated))
        self._clients[client] = {}
        self._prefork.watch(client, lambda: self._serve(client))

    def _serve(self, client: socket.socket) -> None:
        packet = wire.receive(client, ForkerRequest)
        if packet is None:
            self._part_from(client)
        elif isinstance(packet.message, PlaceRunner):
            self._prepare(client, packet.message, packet.fds)
        elif isinstance(packet.message, StartRunner):
            self._begin(client, packet.message)
        else:
            self._welcome(socket.socket(fileno=packet.fds[0]))

    def _part_from(self, client: socket.socket) -> None:
        """Who waits for an order of this client's ends as its control socket closes."""
        self._prefork.forget(client)
        for child in self._clients.pop(client).values():
            child.control.close()
        client.close()

    def _prepare(self, client: socket.socket, request: PlaceRunner, fds: tuple[int, ...]) -> None:
        try:
            child = self._prefork.assign()
            self._clients[client][request.number] = child
            wire.send(child.control, request.workspace, fds)
        except OSError as error:
            self._refuse(fds[init.STATUS], error)
        finally:
            wire.close_all(fds)

    def _begin(self, client: socket.socket, request: StartRunner) -> None:
        child = self._clients[client].pop(request.number, None)
        if child is None:  # it was refused
            return
        self._prefork.start(child, undisturbed=request.undisturbed)
        with child.control as control, suppress(OSError):  # whoever waits for it notices its end
            is_native = self._native is not None
            control.send(native_init.packed(request) if is_native else request.order.encode())

    def _refuse(self, status_fd: int, error: OSError) -> None:
        with socket.socket(fileno=os.dup(status_fd)) as status, suppress(OSError):
            sys.stderr.write(f"no runner: {error!r}\n")
            wire.send(status, NotStarted(in_words(error)))

    def _fork(self, control: socket.socket) -> int:
        """What `os.fork` does; isolated, the child is the first process of a pid namespace of its
        own, and if it is native, what returns here is its child."""
        if not self._isolated:
            return os.fork()
        self._user = next(self._users, None)
        kernel.unshare(kernel.CLONE_NEWPID)  # of the next child; ours stays
        pid = -1
        try:
            pid = os.fork() if self._native is None else self._native.fork(control)
        finally:
            if pid != 0:
                kernel.setns(self._own_pid_namespace, kernel.CLONE_NEWPID)
        return pid

    def _live(self, control: socket.socket) -> NoReturn:
        """The whole life of what was forked."""
        around = replace(self._around, user=self._user)
        if self._native is None:
            init.run_init(control, around)
        control.close()  # the init's, which has it still
        entry.run_entry(self._native.inner(), around)
