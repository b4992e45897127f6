import errno
import os
import queue
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.harness.inside.own_folders import inside
from kernelbot.harness.inside.own_users import FIRST_USER, USERS
from kernelbot.harness.sandbox import Runner, RunnerClient, Zygote, cgroups, run_command
from kernelbot.harness.words.order import RunnerEntry
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.protocol import Limits, SandboxMode
from tests.support.runner_groups import members_of, runner_groups


def _is_alive(pid: int) -> bool:
    """A zombie is dead."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def _spawn(client: RunnerClient) -> Runner:
    return client.spawn(Limits(), RunnerEntry.EXEC)


@pytest.mark.exhaustive  # each run has test_a_closed_zygote_takes_everything_along
def test_a_killed_runner_is_dead_on_return(client: RunnerClient) -> None:
    runner = _spawn(client)
    assert _is_alive(runner.pid)
    ending = runner.kill()
    assert not _is_alive(runner.pid)
    assert (None, None, False) == (ending.exit_code, ending.signal, ending.out_of_memory)


def _users(pid: int) -> set[str]:
    """By the host's numbers."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return set(next(line for line in lines if line.startswith("Uid:")).split()[1:])


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has no others")
def test_each_runner_is_a_user_of_its_own(client: RunnerClient) -> None:
    runners = [_spawn(client) for _ in range(2)]
    (one,), (other,) = (_users(runner.main_pid) for runner in runners)
    for runner in runners:
        runner.kill()
    assert one != other
    assert {one, other} <= {str(FIRST_USER + number) for number in range(USERS)}


def test_a_runner_owns_its_folders(client: RunnerClient) -> None:
    code = "import os; print([os.stat(f).st_uid for f in ('/box', '/tmp', '/dev/shm')])"
    result = run_command(client, ["python3", "-c", code], timeout_s=60)
    assert "[1000, 1000, 1000]" == result.stdout.strip()


def test_few_signals_of_a_runner_can_wait(client: RunnerClient) -> None:
    code = """
import ctypes, os, resource, signal
number = signal.SIGRTMAX - 2
signal.pthread_sigmask(signal.SIG_BLOCK, {number})
sent = 0
while ctypes.CDLL(None).sigqueue(os.getpid(), number, None) == 0: sent += 1
print(sent)
"""
    result = run_command(client, ["python3", "-c", code], timeout_s=60)
    most = resource.getrlimit(resource.RLIMIT_SIGPENDING)[1]
    assert most // 8 == int(result.stdout)


def test_killing_twice_gives_the_same_answer(client: RunnerClient) -> None:
    runner = _spawn(client)
    assert runner.kill() is runner.kill()


def test_a_struck_runner_dies_while_nobody_waits(client: RunnerClient) -> None:
    runner = _spawn(client)
    runner.terminate()
    deadline = time.monotonic() + 60
    while _is_alive(runner.pid) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not _is_alive(runner.pid)
    assert (None, None) == (runner.kill().exit_code, runner.kill().signal)


def test_waiting_for_a_living_runner_gives_none(client: RunnerClient) -> None:
    runner = _spawn(client)
    assert None is runner.wait(0.05)
    runner.kill()
    assert runner.wait(0.05) is runner.kill()


def test_a_runner_that_ends_by_itself_is_noticed(client: RunnerClient) -> None:
    runner = _spawn(client)
    runner.channel.shutdown(socket.SHUT_RDWR)
    ending = runner.wait(60)
    assert ending is not None
    assert 1 == ending.exit_code  # it was told nothing to do
    assert "ChannelClosed" in runner.stderr.text


def test_several_runners_live_side_by_side(client: RunnerClient) -> None:
    runners = [_spawn(client) for _ in range(5)]
    assert 5 == len({runner.pid for runner in runners})
    for runner in runners:
        runner.kill()


UNDER_WAY = """
import os, socket, time
null = os.open("/dev/null", os.O_RDONLY)
kept = []
try:
    while True:
        kept.append(socket.socketpair())
        kept[-1][0].setblocking(False)
        try:
            while True:
                socket.send_fds(kept[-1][0], [b"x"], [null] * 200)
        except BlockingIOError:
            pass
except OSError as error:
    os.write(int(os.environ["POPCORN_FD"]), f"{error.errno}\\n".encode())
time.sleep(60)
"""
"""Leaves descriptors under way until the kernel says that its user has too many."""


@pytest.fixture
def few_open_files() -> Iterator[None]:
    """What many systems start everything with."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.exhaustive
@pytest.mark.timed  # alone: the kernel counts those of all processes of an account
@pytest.mark.usefixtures("few_open_files")
def test_descriptors_under_way_keep_no_other_runner_from_starting() -> None:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    argv = [inside(sys.executable), "-c", UNDER_WAY]

    def fill() -> None:
        client = RunnerClient(zygote.connect())
        run_command(client, argv, timeout_s=8, popcorn_fd=True, on_line=lines.put)
        client.close()

    thread = threading.Thread(target=fill)
    try:
        zygote.wait_ready(60)
        thread.start()
        refused = int(lines.get(timeout=60))
        client = RunnerClient(zygote.connect())
        runners = [_spawn(client) for _ in range(3)]
        alive = [_is_alive(runner.pid) for runner in runners]
        for runner in runners:
            runner.kill()
        client.close()
        thread.join()
    finally:
        zygote.close()
    assert (errno.ETOOMANYREFS, [True] * 3) == (refused, alive)


def test_no_descriptor_and_no_cgroup_is_left(client: RunnerClient, left_groups: set[Path]) -> None:
    _spawn(client).kill()
    before, times = len(list(Path("/proc/self/fd").iterdir())), 12
    for _ in range(times):
        _spawn(client).kill()
    # A few may be those of another test's host, which gets its next runners ready meanwhile.
    assert len(list(Path("/proc/self/fd").iterdir())) - before < times
    assert set() == runner_groups() - left_groups


@pytest.mark.skipif(not cgroups.detect().parents, reason="no writable cgroup here")
def test_the_runner_is_in_its_cgroup_before_it_is_handed_over(
    client: RunnerClient, left_groups: set[Path]
) -> None:
    runner = _spawn(client)
    parents = set(cgroups.detect().parents.values())
    members = [members_of({group}) for group in runner_groups() - left_groups]
    runner.kill()
    assert [1] * len(parents) == [len(pids) for pids in members]


def test_a_judge_that_dies_takes_its_runners_along(zygote: Zygote) -> None:
    awake, writer = os.pipe()
    judge = os.fork()
    if judge == 0:
        runner = _spawn(RunnerClient(zygote.connect()))
        os.write(writer, str(runner.pid).encode())
        time.sleep(60)
        os._exit(0)
    runner_pid = int(os.read(awake, 100))
    assert _is_alive(runner_pid)
    os.kill(judge, signal.SIGKILL)
    os.waitpid(judge, 0)
    deadline = time.monotonic() + 60
    while _is_alive(runner_pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_alive(runner_pid)
    os.close(awake)
    os.close(writer)


def test_a_closed_zygote_takes_everything_along() -> None:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE, spare=2))
    zygote.wait_ready(60)
    client = RunnerClient(zygote.connect())
    runner = _spawn(client)
    zygote.close()
    assert not _is_alive(runner.pid)
    runner.kill()
    with pytest.raises(SandboxUnavailable):
        _spawn(client)
    client.close()


@pytest.mark.exhaustive  # each run has test_a_closed_zygote_takes_everything_along
def test_a_zygote_that_does_not_end_by_itself_takes_everything_along() -> None:
    """A machine that is busy, or a process that somebody has stopped."""
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    zygote.wait_ready(60)
    client = RunnerClient(zygote.connect())
    runners = [_spawn(client) for _ in range(3)]
    os.kill(zygote.pid, signal.SIGSTOP)
    zygote.close()
    alive = [_is_alive(runner.pid) for runner in runners]
    for runner in runners:
        runner.kill()
    client.close()
    assert [False] * 3 == alive


def test_extra_environment_reaches_the_runner() -> None:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE, env={"MARK": "a 'b'\n$c"}))
    client = RunnerClient(zygote.connect())
    result = _run(client, ["printenv", "MARK"])
    assert "a 'b'\n$c\n" == result
    client.close()
    zygote.close()


def test_a_zygote_that_cannot_start_gives_its_last_words() -> None:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE, devices=("/dev/no-such-device",)))
    with pytest.raises(SandboxUnavailable, match="no-such-device"):
        zygote.wait_ready(60)
    zygote.close()


@pytest.mark.exhaustive  # each run has test_a_closed_zygote_takes_everything_along
def test_without_a_sandbox_the_report_says_so_and_trees_die_all_the_same() -> None:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE, mode=SandboxMode.NONE))
    client = RunnerClient(zygote.connect())
    marker = f"marker-{os.urandom(8).hex()}"
    daemon = f"setsid sh -c 'sleep 300 # {marker}' & echo $HOME"
    box = _run(client, ["sh", "-c", daemon]).strip()
    assert "none" == zygote.report().mode
    assert not Path(box).exists()
    assert [] == [p for p in Path("/proc").glob("[0-9]*/cmdline") if marker in _text(p)]
    client.close()
    zygote.close()


def _run(client: RunnerClient, argv: list[str]) -> str:
    return run_command(client, argv, timeout_s=60).stdout


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""
