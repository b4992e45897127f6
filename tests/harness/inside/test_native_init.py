"""An init in C, and one in Python where there is no compiler: a runner can't tell which it has."""

import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelbot.harness.data import wire
from kernelbot.harness.inside import init, kernel, native_code, native_init
from kernelbot.harness.inside.native_code import load, start_compiling
from kernelbot.harness.inside.own_folders import inside
from kernelbot.harness.sandbox import RunnerClient, Zygote, run_command
from kernelbot.harness.words.order import (
    NotIsolated,
    NotStarted,
    RunnerEntry,
    RunnerStatus,
    RunnerWorkspace,
)
from kernelbot.harness.words.sandbox import CommandResult, Flavour, ZygoteConfig
from kernelbot.protocol import Limits
from tests.support.nobody import open_folder

_KINDS = ("native", "python")
_NO_COMPILER = {"PATH": "/nowhere"}


@pytest.fixture(scope="module")
def clients() -> Iterator[dict[str, RunnerClient]]:
    """Connections to a zygote with inits of each kind."""
    zygotes = {
        kind: Zygote.start(ZygoteConfig(Flavour.BARE, env={} if kind == "native" else _NO_COMPILER))
        for kind in _KINDS
    }
    found = {kind: RunnerClient(zygote.connect()) for kind, zygote in zygotes.items()}
    try:
        yield found
    finally:
        for kind in _KINDS:
            found[kind].close()
            zygotes[kind].close()


def _python(client: RunnerClient, code: str, **options: Any) -> CommandResult:
    return run_command(client, [inside(sys.executable), "-c", code], timeout_s=60, **options)


def _printed(clients: dict[str, RunnerClient], code: str, **options: Any) -> list[str]:
    """What a program prints below each kind of init."""
    return [_python(clients[kind], code, **options).stdout for kind in _KINDS]


def _minor_faults(client: RunnerClient) -> int:
    """Of the init of a runner that has its order."""
    runner = client.spawn(Limits(), RunnerEntry.EXEC)
    fields = Path(f"/proc/{runner.pid}/stat").read_text().rpartition(")")[2].split()
    runner.kill()
    return int(fields[7])


def test_a_native_init_touches_little_memory(clients: dict[str, RunnerClient]) -> None:
    native, python = (_minor_faults(clients[kind]) for kind in _KINDS)
    assert native < python / 3


def test_the_runner_sees_the_same_mounts(clients: dict[str, RunnerClient]) -> None:
    code = """
for line in open('/proc/self/mountinfo'):
    fields, _, source = line.rstrip().partition(' - ')
    if fields.split()[4].startswith(('/proc', '/box', '/tmp', '/dev/shm')):
        print(fields.split()[3:], source)
"""
    native, python = _printed(clients, code)
    assert native == python != ""


def test_it_gives_up_as_much(clients: dict[str, RunnerClient]) -> None:
    code = """
names = ('Name', 'Uid', 'Gid', 'Groups', 'Cap', 'NoNewPrivs', 'Seccomp:', 'NSpid', 'NSsid')
print([line for line in open('/proc/1/status') if line.startswith(names)])
print(open('/proc/1/cmdline').read().strip('\\0'), __import__('socket').gethostname())
"""
    native, python = _printed(clients, code)
    assert native == python
    assert "CapBnd:\\t0000000000000000" in native


def test_private_folders_get_the_size_of_the_order(clients: dict[str, RunnerClient]) -> None:
    code = """
import os
for folder in ('/box', '/tmp', '/dev/shm'):
    print(os.statvfs(folder).f_blocks * os.statvfs(folder).f_frsize, os.statvfs(folder).f_files)
"""
    native, python = _printed(clients, code, limits=Limits(file_size_bytes=5 << 20))
    assert native == python == f"{5 << 20} 65536\n" * 3


def test_a_loopback_is_there_if_it_is_to_be(clients: dict[str, RunnerClient]) -> None:
    code = """
import socket
listening = socket.create_server(('127.0.0.1', 0))
socket.create_connection(listening.getsockname())
print('connected')
"""
    assert ["connected\n"] * 2 == _printed(clients, code)


@pytest.mark.parametrize("sent", [None, signal.SIGKILL])
def test_how_the_runner_ended_is_told(
    clients: dict[str, RunnerClient], sent: signal.Signals | None
) -> None:
    for kind in _KINDS:
        runner = clients[kind].spawn(Limits(), RunnerEntry.EXEC)
        if sent is None:
            runner.channel.close()  # then it has nothing to do
        else:
            os.kill(runner.main_pid, sent)
        ended = runner.wait(60)
        assert ended is not None
        exit_code = 1 if sent is None else None
        assert (exit_code, sent, True) == (ended.exit_code, ended.signal, ended.cpu_time_s > 0)


def test_orphans_are_reaped(clients: dict[str, RunnerClient]) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.fork() or os._exit(0)
    os._exit(0)
os.wait()
while len([name for name in os.listdir('/proc') if name.isdigit()]) > 3:
    time.sleep(0.01)
print('reaped')
"""
    assert ["reaped\n"] * 2 == _printed(clients, code)


def test_nothing_is_left_when_the_judge_is_gone(clients: dict[str, RunnerClient]) -> None:
    for kind in _KINDS:
        runner = clients[kind].spawn(Limits(), RunnerEntry.EXEC)
        runner._status.shutdown(socket.SHUT_RDWR)
        _wait_until(lambda pid=runner.main_pid: not Path(f"/proc/{pid}").exists())  # type: ignore[misc]
        runner.kill()


def test_that_nobody_brings_an_order_ends_it(clients: dict[str, RunnerClient]) -> None:
    for kind in _KINDS:
        with _connected(clients[kind]) as client:
            client.prepare(1)
            client.await_prepared()
            (pids,) = (one._pids for one in client._prepared)
            client._conn.shutdown(socket.SHUT_RDWR)
            _wait_until(lambda pids=pids: not Path(f"/proc/{pids['runner']}").exists())  # type: ignore[misc]


@contextmanager
def _connected(other: RunnerClient) -> Iterator[RunnerClient]:
    client = RunnerClient.connect(other._conn)
    try:
        yield client
    finally:
        client.close()


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _refusal(
    monkeypatch: pytest.MonkeyPatch, in_runner: Callable[[socket.socket], None], **links: str
) -> str:
    """Why there is no runner, of an init with hardly anything to isolate."""
    monkeypatch.setattr(init, "private_mounts", lambda: ())
    monkeypatch.setattr(init, "NAMESPACES", kernel.CLONE_NEWUSER | kernel.CLONE_NEWUTS)
    monkeypatch.setattr(native_init, "ways_back", lambda: links)
    building = start_compiling("kernelbot.harness.inside", "init.c", "-O0")
    native = load(building, native_init.NativeInit)
    assert native is not None
    (control, far), (status, far_status) = wire.pair(), wire.pair()
    pid = native.fork(far)
    if pid == 0:
        try:
            in_runner(native.inner())
        finally:
            os._exit(0)
    with control, far, status, far_status:
        far.close()
        unused = socket.socket()
        wire.send(control, RunnerWorkspace(), (far_status.fileno(), unused.fileno()))
        unused.close()
        packet = wire.receive(status, RunnerStatus)
        os.waitpid(pid, 0)
    assert packet is not None
    assert isinstance(packet.message, NotStarted)
    return packet.message.error


def test_what_the_system_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    error = _refusal(monkeypatch, lambda _inner: None, **{'/no"where/link': "x"})
    assert "symlink /no?where/link: No such file or directory" == error


@pytest.mark.parametrize("detail", ["no filter", 'quotes " and \\', "é" * 400])
def test_that_a_runner_cannot_be_isolated_is_told(
    monkeypatch: pytest.MonkeyPatch, detail: str
) -> None:
    error = _refusal(monkeypatch, lambda inner: wire.send(inner, NotIsolated(detail)))
    assert error.startswith("the runner could not be isolated: ")
    assert detail.startswith(error.removeprefix("the runner could not be isolated: ")[:40])


@pytest.mark.exhaustive  # each run has test_that_a_runner_cannot_be_isolated_is_told
def test_that_a_runner_died_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "the runner could not be isolated: it died" == _refusal(monkeypatch, lambda _inner: None)


@pytest.mark.exhaustive  # each run has test_a_native_init_touches_little_memory
def test_threads_that_wait_for_pythons_lock_are_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """They aren't there in a fork, and whoever hands the lock over waits for them to take it."""
    ended = threading.Event()

    def compute() -> None:
        while not ended.is_set():
            pass

    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        errors = {_refusal(monkeypatch, lambda _inner: None) for _ in range(20)}
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert {"the runner could not be isolated: it died"} == errors


_UNUSABLE = {
    "of no kind that this machine runs": "echo a script without its first line\n",
    "failing": "#!/bin/sh\nexit 1\n",
    "making nothing": "#!/bin/sh\n",
    "making rubbish": "#!/bin/sh\nwhile [ $1 != -o ]; do shift; done; echo rubbish >$2\n",
}


@pytest.mark.parametrize("compiler", _UNUSABLE.values(), ids=_UNUSABLE)
def test_an_unusable_compiler_is_none_and_is_told(compiler: str) -> None:
    with open_folder() as folder:
        program = folder / "gcc"
        program.write_text(compiler)
        program.chmod(0o755)
        path = f"{inside(str(folder))}:/usr/bin:/bin"
        config = ZygoteConfig(Flavour.BARE, env={"PATH": path}, folders=(str(folder),))
        zygote = Zygote.start(config)
        client = RunnerClient(zygote.connect())
        try:
            assert "here\n" == _python(client, "print('here')").stdout
            zygote.wait_ready(60)
            assert not zygote._native_marks
            said = os.pread(zygote._log, 4096, 0).decode()
        finally:
            client.close()
            zygote.close()
    assert "no init." in said
    assert "no marks." in said


def test_a_compiler_is_waited_for_from_its_start_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not for as long again by each who waits for one of several that began together."""
    (tmp_path / "gcc").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "gcc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    building = start_compiling("kernelbot.harness.inside", "init.c", "-O0")
    assert building is not None
    began_s = building.end_s - native_code._BUILD_S
    assert load(replace(building, end_s=began_s), native_init.NativeInit) is None
    assert "timed out after 0.0 seconds" in capsys.readouterr().err
    assert -signal.SIGKILL == building.compiler.returncode


def test_no_room_for_a_library_is_as_no_compiler(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    assert start_compiling("kernelbot.harness.inside", "init.c", "-O0") is None
    assert "no init.c: " in capsys.readouterr().err
