"""Children that wait for an order; how many there are is seen in `test_forker.py`."""

import os
import socket
import time
from pathlib import Path
from typing import NoReturn

import pytest

from kernelbot.harness.data import wire
from kernelbot.harness.inside.prefork import Prefork
from kernelbot.harness.sandbox.runner_tree import children_of
from kernelbot.harness.words.order import RankEnded, RunnerStatus


def _echo(control: socket.socket) -> NoReturn:
    """Sends back what it receives, until the other end is closed."""
    while packet := wire.receive(control, RunnerStatus):
        wire.send(control, packet.message)
    os._exit(0)


def test_a_child_waits_for_its_order() -> None:
    prefork = Prefork(1, _echo)
    prefork.fill()
    child = prefork.spawn(undisturbed=True)
    wire.send(child.control, RankEnded(1))
    answer = wire.receive(child.control, RunnerStatus)
    prefork.kill_all()
    assert answer is not None
    assert RankEnded(1) == answer.message


def test_which_child_is_taken_is_left_to_chance() -> None:
    """In the order of forking by chance as well, once in 40,000 runs."""
    prefork = Prefork(8, _echo)
    prefork.fill()
    taken = [prefork.assign().pid for _ in range(8)]
    prefork.kill_all()
    assert (8, True) == (len(set(taken)), taken != sorted(taken))


def test_a_child_that_was_taken_is_at_work_until_it_has_ended() -> None:
    prefork = Prefork(0, _echo)
    before = prefork.is_idle
    child = prefork.spawn(undisturbed=True)
    during = prefork.is_idle
    prefork.kill(child)
    prefork.kill_all()
    assert (True, False, True, False) == (
        before,
        during,
        prefork.is_idle,
        Path("/proc", str(child.pid)).exists(),
    )


def test_the_end_of_who_was_killed_is_seen() -> None:
    # In a process of its own: `serve` takes over the signals.
    if (pid := os.fork()) == 0:
        prefork = Prefork(0, _echo)
        prefork.kill(prefork.spawn(undisturbed=True))
        prefork.serve(lambda: prefork.stop() if prefork.is_idle else None)
        os._exit(0)
    assert 0 == os.waitpid(pid, 0)[1]


def test_who_is_killed_twice_ends_nobody_else() -> None:
    prefork = Prefork(0, _echo)
    first = prefork.spawn(undisturbed=True)
    prefork.kill(first)
    second = prefork.spawn(undisturbed=True)
    prefork.kill(first)
    wire.send(second.control, RankEnded(2))
    answer = wire.receive(second.control, RunnerStatus)
    prefork.kill_all()
    assert answer is not None


def test_a_reserved_child_is_at_work_once_it_is_employed() -> None:
    prefork = Prefork(0, _echo)
    child = prefork.assign()
    waiting = prefork.is_idle, prefork.is_at_work(child)
    prefork.start(child, undisturbed=True)
    working = prefork.is_idle, prefork.is_at_work(child)
    prefork.kill_all()
    assert ((True, False), (False, True)) == (waiting, working)


@pytest.mark.exhaustive  # each run has test_which_child_is_taken_is_left_to_chance
def test_spares_are_made_beside_a_child_that_bears_it() -> None:
    assert (2, 1) == (_spares_beside(undisturbed=False), _spares_beside(undisturbed=True))


def _spares_beside(*, undisturbed: bool) -> int:
    """How many there are beside a child at work, of two that are wanted."""
    others = set(children_of(os.getpid()))
    prefork = Prefork(2, _echo)
    prefork.fill()
    child = prefork.spawn(undisturbed=undisturbed)
    prefork.fill()
    spares = set(children_of(os.getpid())) - others - {child.pid}
    prefork.kill_all()
    return len(spares)


@pytest.mark.exhaustive  # each run has test_which_child_is_taken_is_left_to_chance
def test_spares_are_made_again_once_whom_forks_disturb_has_ended() -> None:
    # In a process of its own: `serve` takes over the signals.
    if (pid := os.fork()) == 0:
        prefork = Prefork(1, _echo)
        bearing, disturbed = (prefork.spawn(undisturbed=one) for one in (False, True))
        prefork.kill(disturbed)
        deadline = time.monotonic() + 60

        def look() -> None:
            if time.monotonic() > deadline:
                os._exit(1)
            there = set(children_of(os.getpid())) - {disturbed.pid}
            if len(there) > 1 and prefork.is_at_work(bearing):
                prefork.stop()

        prefork.serve(look)
        prefork.kill_all()
        os._exit(0)
    assert 0 == os.waitpid(pid, 0)[1]


def test_no_spare_is_made_beside_a_reserved_child() -> None:
    prefork = Prefork(1, _echo)
    prefork.fill()
    prefork.assign()
    before = set(children_of(os.getpid()))
    prefork.fill()
    after = set(children_of(os.getpid()))
    prefork.kill_all()
    assert before == after
