"""Children that wait for an order; how many there are is seen in `test_forker.py`."""

import os
import socket
from pathlib import Path
from typing import NoReturn

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
    child = prefork.spawn()
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
    child = prefork.spawn()
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
        prefork.kill(prefork.spawn())
        prefork.serve(lambda: prefork.stop() if prefork.is_idle else None)
        os._exit(0)
    assert 0 == os.waitpid(pid, 0)[1]


def test_who_is_killed_twice_ends_nobody_else() -> None:
    prefork = Prefork(0, _echo)
    first = prefork.spawn()
    prefork.kill(first)
    second = prefork.spawn()
    prefork.kill(first)
    wire.send(second.control, RankEnded(2))
    answer = wire.receive(second.control, RunnerStatus)
    prefork.kill_all()
    assert answer is not None


def test_a_reserved_child_is_at_work_once_it_is_employed() -> None:
    prefork = Prefork(0, _echo)
    child = prefork.assign()
    waiting = prefork.is_idle, prefork.is_at_work(child)
    prefork.start(child)
    working = prefork.is_idle, prefork.is_at_work(child)
    prefork.kill_all()
    assert ((True, False), (False, True)) == (waiting, working)


def test_no_spare_is_made_beside_a_reserved_child() -> None:
    prefork = Prefork(1, _echo)
    prefork.fill()
    prefork.assign()
    before = set(children_of(os.getpid()))
    prefork.fill()
    after = set(children_of(os.getpid()))
    prefork.kill_all()
    assert before == after
