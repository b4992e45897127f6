"""When spares are made, as seen from outside: by the zygote's children."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernelbot.harness.sandbox import Runner, RunnerClient, Zygote, cgroups
from kernelbot.harness.sandbox.runner_tree import children_of
from kernelbot.harness.words.order import RunnerEntry
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.protocol import Limits
from tests.support.runner_groups import members_of, runner_groups

pytestmark = pytest.mark.each_run(
    "test_no_spare_is_made_while_a_runner_is_at_work",
    "test_a_prepared_runner_is_the_one_that_comes",
    "test_nothing_is_left_of_one_that_nobody_took",
    "test_prepared_runners_end_with_who_prepared_them",
)


@contextmanager
def _client(spare: int) -> Iterator[RunnerClient]:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE, spare=spare))
    client = RunnerClient(zygote.connect())
    try:
        yield client
    finally:
        client.close()
        zygote.close()


def _spawn(client: RunnerClient) -> Runner:
    return client.spawn(Limits(), RunnerEntry.EXEC)


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _children(zygote_pid: int, expected: int) -> int:
    """How many runners there are, once as many as expected, or after 10 s."""
    deadline = time.monotonic() + 60
    while (found := len(list(children_of(zygote_pid)))) != expected and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def test_no_spare_is_made_while_a_runner_is_at_work() -> None:
    with _client(spare=2) as client:
        runners = [_spawn(client) for _ in range(4)]  # the zygote does one thing after the other
        there = set(children_of(_parent_of(runners[0].pid)))
        for runner in runners:
            runner.kill()
    assert {runner.pid for runner in runners} == there


def test_spares_are_made_while_a_runner_is_at_work_that_bears_it() -> None:
    with _client(spare=2) as client:
        client.undisturbed = False
        runner = _spawn(client)
        there = _children(_parent_of(runner.pid), expected=3)
        runner.kill()
    assert 3 == there


def test_spares_are_made_once_the_runners_are_gone() -> None:
    with _client(spare=3) as client:
        runners = [_spawn(client) for _ in range(2)]
        zygote_pid = _parent_of(runners[0].pid)
        for runner in runners:
            runner.kill()
        assert 3 == _children(zygote_pid, expected=3)


def test_without_spares_a_runner_is_made_when_it_is_asked_for() -> None:
    with _client(spare=0) as client:
        runner = _spawn(client)
        zygote_pid = _parent_of(runner.pid)
        runner.kill()
        assert 0 == _children(zygote_pid, expected=0)


def test_a_prepared_runner_is_the_one_that_comes() -> None:
    with _client(spare=0) as client:
        client.prepare(1)
        client.prepare(1)
        runner = client.spawn(Limits())
        there = list(children_of(_parent_of(runner.pid)))
        runner.kill()
    assert [runner.pid] == there


def test_ranks_leave_a_prepared_runner_its_turn() -> None:
    with _client(spare=0) as client:
        client.prepare(1)
        other = client.spawn(Limits(), RunnerEntry.RANKS, channels=2)
        expected = client.spawn(Limits())
        there = list(children_of(_parent_of(other.pid)))
        other.kill()
        expected.kill()
    assert sorted([expected.pid, other.pid]) == sorted(there)


def test_nothing_is_left_of_one_that_nobody_took(left_groups: set[Path]) -> None:
    with _client(spare=0) as client:
        keeper = _spawn(client)
        groups = runner_groups() - left_groups
        client.prepare(1)
        assert len(runner_groups() - left_groups) > len(groups) or not groups
        client.dismiss()
        left = _children(_parent_of(keeper.pid), expected=1), runner_groups() - left_groups
        keeper.kill()
    assert (1, groups) == left


@pytest.mark.skipif(not cgroups.detect().parents, reason="no writable cgroup here")
def test_a_prepared_runner_waits_in_its_control_groups(left_groups: set[Path]) -> None:
    with _client(spare=1) as client:
        client.prepare(1)
        client.await_prepared()
        waiting = set(members_of(runner_groups() - left_groups))
        runner = client.spawn(Limits())
        members = set(members_of(runner_groups() - left_groups))
        runner.kill()
    assert {runner.main_pid} == members
    assert waiting == members


def test_a_prepared_runner_counts_as_a_spare() -> None:
    with _client(spare=2) as client:
        keeper = _spawn(client)
        zygote_pid = _parent_of(keeper.pid)
        keeper.kill()
        assert 2 == _children(zygote_pid, expected=2)
        client.prepare(1)
        client.await_prepared()
        time.sleep(0.1)  # in which there would be another
        assert 2 == _children(zygote_pid, expected=2)


@pytest.mark.skipif(not cgroups.detect().parents, reason="no writable cgroup here")
def test_another_comes_if_a_prepared_runner_was_killed(left_groups: set[Path]) -> None:
    with _client(spare=0) as client:
        client.prepare(1)
        client.await_prepared()
        for pid in set(members_of(runner_groups() - left_groups)):
            os.kill(pid, signal.SIGKILL)
        runner = client.spawn(Limits())
        exit_code = runner.kill().exit_code
        assert set() == runner_groups() - left_groups
    assert exit_code is None


def test_prepared_runners_end_with_who_prepared_them() -> None:
    with _client(spare=0) as client:
        keeper = _spawn(client)
        zygote_pid = _parent_of(keeper.pid)
        awake, writer = os.pipe()
        judge = os.fork()
        if judge == 0:
            client.prepare(2)
            client.await_prepared()
            os.write(writer, b"1")
            time.sleep(60)
            os._exit(0)
        os.read(awake, 1)
        there = _children(zygote_pid, expected=3)
        os.kill(judge, signal.SIGKILL)
        os.waitpid(judge, 0)
        left = _children(zygote_pid, expected=1)
        keeper.kill()
        os.close(awake)
        os.close(writer)
    assert (3, 1) == (there, left)
    assert cgroups.remove_leftovers(timeout_s=60)


def test_a_client_connects_by_the_connection_of_another() -> None:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    door = zygote.connect()
    first, second = RunnerClient.connect(door), RunnerClient.connect(door)
    runners = [_spawn(client) for client in (first, second)]
    pids = {runner.pid for runner in runners}
    for runner in runners:
        runner.kill()
    first.close()
    second.close()
    door.close()
    zygote.close()
    assert 2 == len(pids)


def test_who_connects_to_a_zygote_that_is_gone_is_told_when_they_ask() -> None:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    zygote.wait_ready(60)
    door = zygote.connect()
    zygote.close()
    client = RunnerClient.connect(door)
    with pytest.raises(SandboxUnavailable):
        _spawn(client)
    client.close()
    door.close()
