"""A runner of a duel stands still between its calls, and is noticed if it doesn't."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

import pytest

from kernelbot.harness.inside.cage.loader import loaded
from kernelbot.harness.inside.cage.questions import SoleExaminer, SoleQuestion
from kernelbot.harness.judge.authors import Contestant
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.measuring.timed_runner import Samples, TimedRunner
from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.timing.answers import SampleOutputs
from kernelbot.harness.timing.control_calls import ControlCalls
from kernelbot.harness.timing.plausibility import disturbance
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from kernelbot.harness.words.windows import Reply, Window
from kernelbot.protocol import Limits, SourceFile
from tests.harness.flushers import a_flusher
from tests.harness.jobs import SORT, a_job

BURNS = (
    SORT
    + """
import os, threading
def burn():
    while True: pass
threading.Thread(target=burn, daemon=True).start()
if not os.fork():
    burn()
"""
)
_SPIN = "    while time.thread_time() < until: pass\n"
AUTHOR = Contestant(SourceFile("submission.py", BURNS))
PLAN = Plan.for_job(replace(a_job(SORT), opponent=SourceFile("submission.py", SORT)))


@pytest.fixture(scope="module")
def client() -> Iterator[RunnerClient]:
    zygote = Zygote.start(ZygoteConfig(Flavour.NUMPY))
    zygote.wait_ready(60)
    client = RunnerClient(zygote.connect())
    yield client
    client.close()
    zygote.close()


@pytest.fixture(scope="module")
def question() -> Iterator[SoleQuestion]:
    with loaded(PLAN.job.problem) as problem:
        yield SoleExaminer(problem).ask({"size": 1000, "seed": 1}, None)


def a_runner(client: RunnerClient, source: str) -> TimedRunner:
    author = Contestant(SourceFile("submission.py", source))
    session = Session(client, Limits(), frozenset(), time.monotonic() + 60)
    session.setup((), "cpu", fresh_output=False, outputs=None)
    session.load(author.source, "submission.py")
    return TimedRunner(PLAN, session, a_flusher(), lambda _name, _seconds: None, author)


def test_one_that_waits_for_its_turn_ends_as_others_do(
    client: RunnerClient, question: SoleQuestion
) -> None:
    """What it has printed is still in its buffers."""
    runner = a_runner(client, SORT.replace("    return", "    print('here')\n    return"))
    runner.begin(question)
    runner.call([question], reuse=False)
    runner.session.terminate()
    runner.close()
    assert "here\n" == runner.session.abort().stdout


def _nothing(*_: object) -> NoReturn:
    raise AssertionError("no sample is taken")


def test_neither_one_that_waited_nor_one_that_did_less_decides_what_windows_hold(
    client: RunnerClient,
) -> None:
    runner = a_runner(client, SORT)
    samples = Samples(runner, SampleOutputs(_nothing, _nothing, repeatable=False))
    controls = ControlCalls(on_gpu=False)
    controls.add(Window(0, 0))
    for took_ns in (900, 30, 5_000_000, 910, 920):
        samples.add_warming(Reply(None, Window(took_ns, took_ns), 0, aliased=False))
    alone_ns = samples.quick_ns(controls.baseline())
    samples.hold_in_windows(16)
    samples.add_warming(Reply(None, Window(700, 700), 0, aliased=False))
    assert (900, 700) == (alone_ns, samples.quick_ns(controls.baseline()))
    runner.session.abort()
    runner.close()


def test_what_it_takes_to_stop_a_runner_is_its_own_time(
    client: RunnerClient, question: SoleQuestion
) -> None:
    """Else whoever can't be stopped for a while would use up the time, and nobody be blamed."""
    runner = a_runner(client, SORT)
    samples = Samples(runner, SampleOutputs(_nothing, _nothing, repeatable=True))
    window = Window(1, bracket_ns=10**9, outside_ns=2 * 10**9, stopping_ns=4 * 10**9)
    samples.add(0, [question], Reply(None, window, 0, aliased=False))
    assert 7.0 == samples.runner_s
    runner.session.abort()
    runner.close()


@pytest.mark.exhaustive  # each run has test_one_that_waits_for_its_turn_ends_as_others_do
def test_a_wait_for_ones_own_threads_is_none_for_others(
    client: RunnerClient, question: SoleQuestion
) -> None:
    """Whatever else the machine does: else a kernel could choose which of its calls are samples."""
    beside = SORT.replace(
        "    return", "    until = time.thread_time() + 0.01\n" + _SPIN + "    return"
    )
    burns = SourceFile("submission.py", f"import time\n{BURNS.replace(SORT, beside)}")
    session = Session(client, Limits(), frozenset(), time.monotonic() + 60)
    session.setup((), "cpu", fresh_output=False, outputs=None)
    session.load(burns, "submission.py")
    runner = TimedRunner(
        Plan.for_job(a_job(SORT)), session, a_flusher(), lambda _n, _s: None, Contestant(burns)
    )
    runner.begin(question)
    # The first call counts until its output was described: nobody knows yet where that lies.
    runner.call([question], reuse=False)
    for _ in range(10):
        _, before_ns = session.ranks[0].clocks.main_thread() or (0, 0)
        window = runner.call([question], reuse=False).window
        _, after_ns = session.ranks[0].clocks.main_thread() or (0, 0)
        own_ns = window.call_tree_cpu_ns - window.call_cpu_ns
        # What its threads computed is known up to the mark or a little later; they compute 10 ms.
        assert (window.kept_waiting_ns or 0) <= max(after_ns - before_ns - own_ns, 0) + 2_000_000
    session.abort()
    runner.close()


@pytest.fixture
def burning(client: RunnerClient, question: SoleQuestion) -> Iterator[TimedRunner]:
    """One that was called once, and computes whenever it can."""
    session = Session(client, Limits(), frozenset(), time.monotonic() + 60)
    session.setup((), "cpu", fresh_output=False, outputs=None)
    session.load(SourceFile("submission.py", BURNS), "submission.py")
    runner = TimedRunner(PLAN, session, a_flusher(), lambda _name, _seconds: None, AUTHOR)
    runner.begin(question)
    runner.call([question], reuse=False)
    yield runner
    session.abort()
    runner.close()


def test_threads_and_processes_that_burn_are_frozen_while_the_other_is_timed(
    burning: TimedRunner, question: SoleQuestion
) -> None:
    time.sleep(0.1)  # as long as the other one's call may take
    burning.call([question], reuse=False)
    assert disturbance(burning.idle_cpu_ns, (), ()) is None  # half of 0.1 s and more unfrozen


def test_one_that_wakes_by_itself_is_noticed(burning: TimedRunner, question: SoleQuestion) -> None:
    # As without a freezer, where a process can undo a stop signal.
    tree, before_ns = burning.session.tree(), burning.session.tree_cpu_ns()
    tree.halt()
    tree.resume()
    while burning.session.tree_cpu_ns() < before_ns + 1_000_000:
        time.sleep(0.01)
    burning.call([question], reuse=False)
    found = disturbance(burning.idle_cpu_ns, (), ())
    assert found is not None
    assert "It computed while it had to be still" in found.message
