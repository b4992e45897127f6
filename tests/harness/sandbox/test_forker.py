"""When spares are made, as seen from outside: by the zygote's children."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelbot.harness.runner_client.freeze import children_of
from kernelbot.harness.sandbox import Entry, Flavour, Runner, RunnerClient, Zygote, ZygoteConfig
from kernelbot.protocol import Limits


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
    return client.spawn(Limits(), Entry.EXEC)


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _children(zygote_pid: int, expected: int) -> int:
    """How many runners there are, once as many as expected, or after 10 s."""
    deadline = time.monotonic() + 10
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


def test_an_expected_runner_is_the_one_that_comes() -> None:
    with _client(spare=0) as client:
        client.expect(Limits())
        client.expect(Limits())
        runner = client.spawn(Limits())
        there = list(children_of(_parent_of(runner.pid)))
        runner.kill()
    assert [runner.pid] == there


def test_a_runner_of_another_kind_leaves_the_expected_one_its_turn() -> None:
    with _client(spare=0) as client:
        client.expect(Limits())
        other, expected = _spawn(client), client.spawn(Limits())
        there = list(children_of(_parent_of(other.pid)))
        other.kill()
        expected.kill()
    assert sorted([expected.pid, other.pid]) == sorted(there)


def test_nothing_is_left_of_one_that_nobody_took() -> None:
    with _client(spare=0) as client:
        keeper = _spawn(client)
        groups = _groups()
        client.expect(Limits())
        assert len(_groups()) > len(groups) or not groups
        client.dismiss()
        left = _children(_parent_of(keeper.pid), expected=1), _groups()
        keeper.kill()
    assert (1, groups) == left


def _groups() -> set[str]:
    """Control groups of this process's runners, in whichever hierarchies there are."""
    return {str(folder) for folder in Path("/sys/fs/cgroup").rglob(f"kernelbot-{os.getpid()}-*")}
