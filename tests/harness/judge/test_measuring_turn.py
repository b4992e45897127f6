"""A job measures once nobody else on its machine does; what needs no clock isn't kept waiting."""

import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from kernelbot.harness.host.cancellation import Cancellation, Cancelled
from kernelbot.harness.host.host import Host
from kernelbot.harness.judge.host_messages import TurnAnswer
from kernelbot.harness.judge.measuring_turn import MeasuringTurn
from kernelbot.harness.timing.turns import Turn, Turns
from kernelbot.protocol import EventKind, JobSpec, Mode, Phase, ProgressEvent, Timeouts, Verdict
from tests.harness.jobs import FAST, SORT, a_job, a_problem

PATIENCE_S = 60.0
WAITS = (EventKind.WAITING, EventKind.WAITED)


@pytest.fixture(scope="module")
def turns() -> Turns:
    return Turns(f"test {uuid.uuid4()}", PATIENCE_S)


@pytest.fixture(scope="module")
def host(turns: Turns) -> Iterator[Host]:
    made = Host(turns=turns)
    yield made
    made.close()


@pytest.fixture
def held(turns: Turns) -> Iterator[Turn]:
    """By somebody else."""
    turn = turns.take(0)
    assert "" == turn.note
    yield turn
    turn.release()


def is_free(turns: Turns) -> bool:
    turn = turns.take(0)
    turn.release()
    return not turn.note


def timed_job(
    source: str = SORT, mode: Mode = Mode.BENCHMARK, benchmark_s: float = 20.0
) -> JobSpec:
    problem = a_problem(timeouts=Timeouts(test_s=20, benchmark_s=20))
    return replace(a_job(source, mode=Mode.BENCHMARK, problem=problem), sampling=FAST)


@pytest.mark.exhaustive
def test_tests_wait_for_nobody(host: Host, held: Turn) -> None:
    events: list[EventKind] = []
    result = host.attempt(a_job(SORT), lambda event: events.append(event.kind))
    assert (Verdict.ACCEPTED, []) == (result.verdict, [one for one in events if one in WAITS])


@pytest.mark.exhaustive  # each run has test_a_phase_that_fails_gives_its_turn_back
def test_a_measurement_waits_for_another_and_says_so(host: Host, turns: Turns, held: Turn) -> None:
    events: list[ProgressEvent] = []

    def release(event: ProgressEvent) -> None:
        events.append(event)
        if event.kind is EventKind.WAITING:
            held.release()

    result = host.attempt(timed_job(), release)
    assert Verdict.ACCEPTED == result.verdict, result.failure
    told = [event for event in events if event.kind in WAITS]
    assert [*WAITS] == [event.kind for event in told]
    assert [Phase.BENCHMARK] * 2 == [event.phase for event in told]
    assert told[1].duration_s == result.timings["turn_wait"] > 0
    assert is_free(turns)


@pytest.mark.exhaustive
def test_waiting_is_none_of_the_jobs_own_time(host: Host, held: Turn) -> None:
    """The other one measures for twice as long as all before took, so that the wait is more than
    what isn't counted anyway."""
    start = time.monotonic()

    def release_later(event: ProgressEvent) -> None:
        if event.kind is EventKind.WAITING:
            threading.Timer(2 * (time.monotonic() - start), held.release).start()

    result = host.attempt(timed_job(), release_later)
    took_s, waited_s = time.monotonic() - start, result.timings["turn_wait"]
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert result.timings["total"] + waited_s <= took_s
    assert sum(phase.duration_s for phase in result.phases) <= result.timings["total"]


class _Claiming(Turns):
    """Waits for nobody, and says that it was for less than no time."""

    def take(
        self,
        wait_s: float,
        on_wait: Callable[[], None] = lambda: None,
        given_up: Callable[[], bool] = lambda: False,
    ) -> Turn:
        return replace(super().take(wait_s, on_wait, given_up), waited_s=-30.0)


@pytest.mark.exhaustive  # each run has test_a_cancelled_job_waits_no_longer
def test_a_wait_moves_the_end_of_the_phase_by_as_much(turns: Turns) -> None:
    """To before its beginning, so that this test needn't wait."""
    host = Host(turns=_Claiming(turns._address[1:]), lasting=False)
    try:
        result = host.attempt(timed_job(), lambda _event: None)
    finally:
        host.close()
    assert Verdict.TIME_LIMIT == result.verdict, result.failure


@pytest.mark.exhaustive
def test_a_turn_that_is_never_had_is_told(turns: Turns, held: Turn) -> None:
    impatient = Turns(turns._address[1:], wait_s=0.1)
    host = Host(turns=impatient, lasting=False)
    try:
        result = host.attempt(timed_job(), lambda _event: None)
    finally:
        host.close()
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert 1 == sum("kept this machine's turn" in note for note in result.system.notes)


def test_a_cancelled_job_waits_no_longer(host: Host, turns: Turns, held: Turn) -> None:
    cancelled = Cancellation()

    def cancel(event: ProgressEvent) -> None:
        if event.kind is EventKind.WAITING:
            cancelled.set()

    with pytest.raises(Cancelled):
        host.attempt(timed_job(), cancel, cancelled)
    held.release()
    assert is_free(turns)


RAISES = """
import numpy as np
seen = []
def custom_kernel(data):
    seen.append(1)
    if len(seen) > 3:
        raise ValueError("a'; echo x")
    return np.sort(data)
"""


def test_a_phase_that_fails_gives_its_turn_back(host: Host, turns: Turns) -> None:
    result = host.attempt(timed_job(RAISES), lambda _event: None)
    assert (Verdict.RUNTIME_ERROR, True) == (result.verdict, is_free(turns))


@pytest.mark.exhaustive
def test_the_turn_is_free_while_nothing_is_measured(host: Host, turns: Turns) -> None:
    free: list[bool] = []

    def look(event: ProgressEvent) -> None:
        if event.kind in (EventKind.CASE, EventKind.PHASE_STARTED, EventKind.WORKLOAD):
            free.append(is_free(turns))

    host.attempt(timed_job(), look)
    assert {True} == set(free)


def test_on_a_gpu_nobody_asks_for_a_turn() -> None:
    asked: list[str] = []

    def ask(_phase: Phase) -> TurnAnswer:
        asked.append("asked")
        return TurnAnswer(0.0)

    turn = MeasuringTurn(ask, lambda: asked.append("over"), is_needed=False)
    with turn.held(Phase.BENCHMARK) as waited_s:
        pass
    assert (0.0, []) == (waited_s, asked)


REACHES = """
import socket
with socket.socket(socket.AF_UNIX) as waiting:
    try:
        waiting.connect({address!r})
        print("reached")
    except OSError:
        print("not reached")
"""


def test_an_authors_code_cannot_reach_the_turn(host: Host, turns: Turns, held: Turn) -> None:
    reaches = REACHES.format(address=turns._address)
    outside = subprocess.run(
        [sys.executable, "-c", reaches], capture_output=True, text=True, check=True
    )
    result = host.attempt(a_job(SORT + reaches), lambda _event: None)
    assert ("reached\n", "not reached\n") == (outside.stdout, result.stdout)
