"""What the cage keeps of the questions that were asked."""

import contextlib
import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from kernelbot.harness.judge.problem.cage import Cage
from kernelbot.harness.judge.problem.examiner import CagedQuestion, Examiner
from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
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


@pytest.fixture
def examiner() -> Iterator[Examiner]:
    zygote = Zygote.start(ZygoteConfig(Flavour.NUMPY))
    zygote.wait_ready(60)
    client = RunnerClient(zygote.connect())
    job = a_job(SORT, problem=a_problem(reference=COUNTS))
    with contextlib.closing(Cage(job, client)) as cage:
        yield Examiner(cage, Plan.for_job(job))
    client.close()
    zygote.close()


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
