"""What the cage keeps of the questions that were asked."""

import contextlib
import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from kernelbot.harness.judge.problem.cage import Cage
from kernelbot.harness.judge.problem.examiner import CagedQuestion, Examiner
from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from kernelbot.protocol import ProblemSpec, Timeouts
from tests.harness.jobs import SORT, a_job, a_problem

COUNTS = """
import weakref
import numpy as np
made = []
def generate_input(size, seed):
    data = np.zeros(size)
    made.append(weakref.ref(data))
    data[0] = sum(one() is not None for one in made)
    return data
def ref_kernel(data):
    return data
def check_implementation(data, output):
    return True
"""


KEEPS = """
import time
import numpy as np
made = []
def generate_input(size, seed):
    time.sleep(seed)
    made.append(np.full(size, 3.0))
    return made[-1]
def ref_kernel(data):
    time.sleep(SLEEP_S)
    made[-1][:] = 4
    return np.zeros(1 << 21)
def check_implementation(data, output):
    return True
"""
"""Its reference changes the data that it was made for."""


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    zygote = Zygote.start(ZygoteConfig(Flavour.NUMPY))
    zygote.wait_ready(60)
    yield zygote
    zygote.close()


@contextlib.contextmanager
def examining(zygote: Zygote, problem: ProblemSpec) -> Iterator[Examiner]:
    client = RunnerClient(zygote.connect())
    job = a_job(SORT, problem=problem)
    with contextlib.closing(Cage(job, client)) as cage:
        yield Examiner(cage, Plan.for_job(job))
    client.close()


@pytest.fixture
def examiner(zygote: Zygote) -> Iterator[Examiner]:
    with examining(zygote, a_problem(reference=COUNTS)) as examiner:
        yield examiner


def asked(examiner: Examiner) -> CagedQuestion:
    return examiner.ask({"size": 8, "seed": 1}, None)


def living(question: CagedQuestion) -> int:
    """How many questions' data the cage had when it made this one's."""
    (part,) = question.given.parts
    (leaf,) = part.leaves
    return int(np.frombuffer(ctypes.string_at(leaf.address, leaf.size_bytes))[0])


def test_what_nobody_refers_to_is_forgotten_whatever_was_asked_meanwhile(
    examiner: Examiner,
) -> None:
    first, second = asked(examiner), asked(examiner)
    del first
    third = asked(examiner)
    assert [2, 2] == [living(second), living(third)]


def values(question: CagedQuestion) -> list[float]:
    (part,) = question.given.parts
    (leaf,) = part.leaves
    return [float(one) for one in np.frombuffer(ctypes.string_at(leaf.address, leaf.size_bytes))]


def test_data_that_comes_with_its_answer_is_as_it_was_made(zygote: Zygote) -> None:
    slow = KEEPS.replace("SLEEP_S", "0.2")
    with examining(zygote, a_problem(reference=slow)) as examiner:
        question = examiner.ask({"size": 2, "seed": 0}, None, works_out=True)
        known = question.max_output_bytes()
        assert [3.0, 3.0] == values(question)
        assert 0.2 <= question.worked_out_s
        question.work_out()
        assert (known, True) == (question.max_output_bytes(), known is not None)


# Each run has test_what_nobody_refers_to_is_forgotten_whatever_was_asked_meanwhile.
@pytest.mark.exhaustive
def test_each_of_two_things_that_are_asked_at_once_may_take_as_long_as_any(
    zygote: Zygote,
) -> None:
    patience_s = 6  # either takes 3.5
    timeouts = Timeouts(test_s=patience_s, benchmark_s=1, ranked_s=1, compile_s=5)
    problem = a_problem(reference=KEEPS.replace("SLEEP_S", "3.5"), timeouts=timeouts)
    with examining(zygote, problem) as examiner:
        question = examiner.ask({"size": 2, "seed": 3.5}, None, works_out=True)
    assert 3.5 <= question.worked_out_s < 2 * patience_s


@pytest.mark.parametrize(
    ("said_ns", "said_bytes", "expected"),
    [
        (-1, 8, (0.0, 8)),
        (10**30, 8, (5.0, 8)),
        (2_000_000_000, -8, (2.0, None)),
        (2_000_000_000, None, (2.0, None)),
    ],
)
def test_what_a_problems_process_says_of_its_answer_is_kept_within_bounds(
    examiner: Examiner, said_ns: int, said_bytes: int | None, expected: tuple[float, int | None]
) -> None:
    question = asked(examiner)
    question.note_answer(messages.Asked(None, 0, said_bytes, said_ns), 5.0)
    assert expected == (question.worked_out_s, question.max_output_bytes())
