"""One measurement at a time on a machine, whoever else wants the turn, and whoever keeps it."""

import contextlib
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator

import pytest

from kernelbot.harness.timing import turns
from kernelbot.harness.timing.turns import Turn, Turns, turn_name

PATIENCE_S = 60.0
HOLDER = """
import sys
from kernelbot.harness.timing.turns import Turns
turn = Turns(sys.argv[1]).take(0)
print(turn.note, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def name() -> str:
    return f"a'; echo x {uuid.uuid4()}"


@contextlib.contextmanager
def held(name: str) -> Iterator[Turn]:
    turn = Turns(name).take(0)
    assert "" == turn.note
    try:
        yield turn
    finally:
        turn.release()


@contextlib.contextmanager
def other_process(name: str) -> Iterator[subprocess.Popen[bytes]]:
    """One that has the turn until its end."""
    command = [sys.executable, "-c", HOLDER, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b"\n" == process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_who_only_asks_whether_somebody_measures_takes_no_turn(name: str) -> None:
    before = Turns(name).is_taken()
    with held(name):
        during = Turns(name).is_taken()
    assert [False, True, False] == [before, during, Turns(name).is_taken()]
    assert not Turns("").is_taken()


def is_free(name: str) -> bool:
    turn = Turns(name).take(0)
    turn.release()
    return not turn.note


def test_a_free_turn_is_had_without_a_wait(name: str) -> None:
    told: list[str] = []
    turn = Turns(name).take(PATIENCE_S, lambda: told.append("waits"))
    turn.release()
    assert ("", []) == (turn.note, told)


def test_a_turn_that_is_held_is_waited_for(name: str) -> None:
    told: list[str] = []
    with held(name) as first:

        def end_the_first() -> None:
            told.append("waits")
            first.release()

        second = Turns(name).take(PATIENCE_S, end_the_first)
        assert ("", ["waits"], False) == (second.note, told, is_free(name))
        second.release()
    assert is_free(name)


def test_a_killed_holder_holds_nothing(name: str) -> None:
    with other_process(name) as holder:
        turn = Turns(name).take(PATIENCE_S, holder.kill)
        assert "" == turn.note
        turn.release()


def test_who_never_releases_it_delays_one_job(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    ours, told = Turns(name), []
    with other_process(name) as holder:
        holder.send_signal(signal.SIGSTOP)
        first = ours.take(0.2, lambda: told.append("first"))
        second = ours.take(PATIENCE_S, lambda: told.append("second"))
    assert (["first"], turns._BESIDE, turns._BESIDE) == (told, first.note, second.note)
    assert f"process {holder.pid} of user {os.getuid()} keeps" in capfd.readouterr().err


def test_others_are_waited_for_again_once_it_was_free(name: str) -> None:
    ours, told = Turns(name), []
    with held(name):
        ours.take(0)
    ours.take(0).release()
    with held(name) as again:

        def end() -> None:
            told.append("waits")
            again.release()

        turn = ours.take(PATIENCE_S, end)
    assert (["waits"], "") == (told, turn.note)
    turn.release()


@pytest.mark.parametrize("backlog", [None, 0])
def test_a_holder_that_takes_no_connections_is_waited_for_as_well(
    name: str, backlog: int | None
) -> None:
    """With a backlog of 0 one connection fits, and no more."""
    with socket.socket(socket.AF_UNIX) as holder, socket.socket(socket.AF_UNIX) as first:
        holder.bind("\0" + name)
        if backlog is not None:
            holder.listen(backlog)
            first.connect("\0" + name)
        assert turns._BESIDE == Turns(name).take(0.1).note
        turn = Turns(name).take(PATIENCE_S, holder.close)
    assert "" == turn.note
    turn.release()


def test_a_holder_that_ends_connections_keeps_nobody_longer(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as holder:
        holder.bind("\0" + name)
        holder.listen()

        def hang_up() -> None:
            with contextlib.suppress(OSError):  # the end of the test
                while True:
                    connection, _ = holder.accept()
                    with connection, contextlib.suppress(BrokenPipeError):
                        connection.send(b"x" * 100)

        thread = threading.Thread(target=hang_up, daemon=True)
        thread.start()
        assert turns._BESIDE == Turns(name).take(0.3).note
        holder.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE_S)


def test_nobody_waits_for_a_job_that_is_given_up(name: str) -> None:
    given_up = threading.Event()
    ours = Turns(name)
    with held(name) as first:
        assert ours.take(PATIENCE_S, given_up.set, given_up.is_set).waited_s < PATIENCE_S
        turn = ours.take(PATIENCE_S, first.release)  # that was no holder's fault
    assert "" == turn.note
    turn.release()


def test_whoever_releases_it_lets_others_be_first(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_GIVE_WAY_S", PATIENCE_S)
    taken: list[Turn] = []
    with held(name) as first:
        waiting = threading.Event()
        other = threading.Thread(
            target=lambda: taken.append(Turns(name).take(PATIENCE_S, waiting.set))
        )
        other.start()
        waiting.wait(PATIENCE_S)
        _wait_for_a_connection(first)
        first.release()
        assert not is_free(name)
        other.join(PATIENCE_S)
    taken[0].release()


def _wait_for_a_connection(turn: Turn) -> None:
    """Look without accepting it."""
    assert turn._listener is not None
    assert select.select([turn._listener], [], [], PATIENCE_S)[0]


def test_any_number_may_wait(name: str) -> None:
    """Also so many that their descriptors have large numbers."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        with contextlib.ExitStack() as waiting:
            turn = Turns(name).take(0)
            for _ in range(600):
                one = waiting.enter_context(socket.socket(socket.AF_UNIX))
                one.connect(f"\0{name}")
            turn.release()
        assert is_free(name)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def test_without_a_name_nobody_waits() -> None:
    first, second = Turns("").take(PATIENCE_S), Turns("").take(PATIENCE_S)
    assert ("", "") == (first.note, second.note)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, "kernelbot-turn"), ({"KERNELBOT_TURN": ""}, ""), ({"KERNELBOT_TURN": "b"}, "b")],
)
def test_the_environment_names_the_turn(environment: dict[str, str], expected: str) -> None:
    assert expected == turn_name(environment)


def test_where_no_turn_can_be_had_everybody_measures() -> None:
    turn = Turns("x" * 200).take(PATIENCE_S)
    assert turn.note.startswith("Measurements here can't take turns")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
def test_accounts_take_turns_with_each_other(name: str) -> None:
    reading, writing = os.pipe()
    with held(name):
        if (child := os.fork()) == 0:
            os.setgid(65534)
            os.setuid(65534)
            seen = is_free(name)
            os.write(writing, b"free" if seen else b"held")
            os._exit(0)
        os.waitpid(child, 0)
    assert b"held" == os.read(reading, 4)
    os.close(reading)
    os.close(writing)
