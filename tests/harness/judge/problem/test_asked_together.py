"""The data of several calls, and the checks of several outputs, by one message."""

import contextlib
import ctypes
import os
from collections.abc import Iterator

import numpy as np
import pytest

from kernelbot.harness.data.encode import Encoded, encode
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.judge.problem.examiner import CagedQuestion, Examiner
from kernelbot.harness.judge.problem.received import received_all
from kernelbot.harness.sandbox import Zygote
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CallArguments
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from tests.harness.jobs import a_problem
from tests.harness.judge.problem.test_examiner import examining

REFILLS = """
import time
import numpy as np
memory = np.empty(100_000)
looked_at = []
def generate_input(size, seed):
    memory[:size] = seed
    return memory[:size]
def ref_kernel(data):
    time.sleep(0.05)
    return 2 * data
def check_implementation(data, output):
    looked_at.append(float(data[0]))
    right = np.array_equal(output, 2 * data)
    return right, "" if right else f"not twice {data[0]:g}, after {len(looked_at)}"
"""
"""All calls' data lie in the same memory."""


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with contextlib.closing(Zygote.start(ZygoteConfig(Flavour.NUMPY))) as zygote:
        zygote.wait_ready(60)
        yield zygote


@pytest.fixture
def examiner(zygote: Zygote) -> Iterator[Examiner]:
    with examining(zygote, a_problem(reference=REFILLS)) as examiner:
        yield examiner


def calls(*sizes: int) -> list[CallArguments]:
    """The seeds are 1, 2, 3, ..."""
    return [CallArguments({"size": size, "seed": at}, at) for at, size in enumerate(sizes, 1)]


def values(given: Encoded) -> list[float]:
    (leaf,) = given.leaves
    return [float(one) for one in np.frombuffer(ctypes.string_at(leaf.address, leaf.size_bytes))]


def data(question: CagedQuestion) -> list[float]:
    (part,) = question.given.parts
    return values(part)


def takes_bytes(question: CagedQuestion) -> int:
    (part,) = question.given.parts
    return part.size_bytes


def outputs(*of_each: list[float]) -> list[Encoded]:
    return [encode(np.array(one), frozenset()) for one in of_each]


@pytest.mark.parametrize("sizes", [(2, 2, 2), (1, 70_000, 3), (600, 5, 90_000, 513)])
def test_each_has_its_own_data_whatever_the_generator_reuses(
    examiner: Examiner, sizes: tuple[int, ...]
) -> None:
    questions = examiner.ask_all(calls(*sizes))
    found = [data(question) for question in questions]
    assert [[float(at)] * size for at, size in enumerate(sizes, 1)] == found
    alone = examiner.ask({"size": 2, "seed": 9}, 9)
    if sizes[0] == 2:
        assert takes_bytes(questions[0]) == takes_bytes(alone)
    assert len({one.number for one in (*questions, alone)}) == len(sizes) + 1


def test_data_stay_as_they_were_when_others_are_asked_for(examiner: Examiner) -> None:
    """The problem's process sends all data in the same memory."""
    first = examiner.ask_all(calls(513, 2, 90_000))
    alone = examiner.ask({"size": 4, "seed": 9}, 9)
    again = examiner.ask_all(calls(1, 600))
    assert [[1.0] * 513, [2.0] * 2, [3.0] * 90_000] == [data(question) for question in first]
    assert [9.0] * 4 == data(alone)
    assert [[1.0], [2.0] * 600] == [data(question) for question in again]
    assert takes_bytes(again[1]) == 8192, "the rest of the memory isn't its own"


def test_a_question_that_was_asked_with_others_is_answered_by_itself(examiner: Examiner) -> None:
    first, second = examiner.ask_all(calls(1, 1))
    (right, wrong) = outputs([4.0], [5.0])
    assert "" == second.complaint_once_worked_out(right)
    assert 0.05 <= second.worked_out_s
    assert "not twice 2, after 2" == second.complaint(wrong)
    del first


def test_the_first_wrong_output_of_several_is_named_and_no_other_is_looked_at(
    examiner: Examiner,
) -> None:
    asked = calls(1, 1, 1, 1)
    right = outputs([2.0], [4.0], [6.0], [8.0])
    found, reference_s = examiner.complaint_of_any(asked, right, works_out=True)
    assert "" == found
    assert 0.2 <= reference_s
    wrong = outputs([2.0], [0.0], [0.0], [8.0])
    found, reference_s = examiner.complaint_of_any(asked, wrong, works_out=False)
    assert ("not twice 2, after 6", 0.0) == (found, reference_s)


def test_an_output_of_another_kind_is_found_among_several(examiner: Examiner) -> None:
    asked, odd = calls(1, 1), encode(np.array([4.0], np.float32), frozenset())
    found, _ = examiner.complaint_of_any(asked, [*outputs([2.0]), odd], works_out=True)
    assert "float32" in found


def test_a_problem_that_fails_among_several_is_said_to_be_broken(zygote: Zygote) -> None:
    fails = REFILLS.replace("    memory[:size] = seed\n", "    memory[:size] = 1 / (2 - seed)\n")
    with (
        examining(zygote, a_problem(reference=fails)) as examiner,
        pytest.raises(ProblemBroken, match="ZeroDivisionError"),
    ):
        examiner.ask_all(calls(1, 1))


SKELETON = {"t": "array", "d": "float64", "s": [2], "k": [1], "o": 0, "n": 16}


@pytest.mark.parametrize("size_bytes", [4096, 8200, 1 << 60, -1])
def test_data_of_another_size_than_there_is_are_refused(size_bytes: int) -> None:
    skeleton = {**SKELETON, "n": 4096} if size_bytes == 4096 else SKELETON
    with contextlib.closing(SharedBuffer.create(8192)) as buffer:
        answer = messages.AllAsked([SKELETON, skeleton], (0, 4096), size_bytes)
        with pytest.raises(ProblemBroken):
            received_all(answer, [os.dup(buffer.fd)], 2)


@pytest.mark.parametrize(
    ("skeletons", "begins"),
    [
        ([SKELETON], (0,)),
        ([SKELETON, SKELETON], (0,)),
        ([SKELETON, SKELETON], (4096, 0)),
        ([SKELETON, SKELETON], (-4096, 0)),
        ([SKELETON, SKELETON], (0, 8192)),
        ([SKELETON, SKELETON], (0, 8)),
        ([SKELETON, {**SKELETON, "o": 4096}], (0, 4096)),
        ([{**SKELETON, "n": 4112}, SKELETON], (0, 4096)),
        ({"t": "tuple"}, (0, 4096)),
        ([SKELETON, None, SKELETON], (0, 4096)),
    ],
)
def test_what_is_not_the_data_of_so_many_calls_is_refused(
    skeletons: object, begins: tuple[int, ...]
) -> None:
    with contextlib.closing(SharedBuffer.create(8192)) as buffer:
        answer = messages.AllAsked(skeletons, begins, 8192)
        with pytest.raises(ProblemBroken):
            received_all(answer, [os.dup(buffer.fd)], 2)
        good = messages.AllAsked([SKELETON, SKELETON], (0, 4096), 8192)
        assert [[0.0, 0.0]] * 2 == [values(x) for x in received_all(good, [os.dup(buffer.fd)], 2)]
