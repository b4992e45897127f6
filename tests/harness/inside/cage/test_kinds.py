"""Once the reference is too slow, an output must be of a kind that was right before."""

from typing import Any

import numpy as np
import pytest
import torch

from kernelbot.harness.inside.cage.kinds import Kinds, kind_of
from kernelbot.harness.inside.cage.loader import ProblemFunctions
from kernelbot.harness.inside.cage.questions import SoleExaminer, SoleQuestion

DATA = np.array([1.0, -1.0])
ARRAY = np.zeros((2, 3))
UNLIKE = {
    "dtype": (ARRAY, ARRAY.astype(np.float32)),
    "framework": (ARRAY, torch.zeros(2, 3)),
    "axes": (ARRAY, ARRAY.reshape(6)),
    "order": (ARRAY, np.asfortranarray(ARRAY)),
    "order in torch": (torch.zeros(2, 3), torch.zeros(3, 2).T),
    "NaN": (ARRAY, np.full((2, 3), np.nan)),
    "NaN in numbers": ([1.0], [float("nan")]),
    "one of several": ((ARRAY, ARRAY), (ARRAY, ARRAY > 0)),
    "number of items": ((ARRAY, ARRAY), (ARRAY,)),
    "keys": ({"a": 1}, {"b": 1}),
    "numbers": ([1, 2], [1, 2.0]),
    "truth": (1, True),
}


@pytest.mark.parametrize(("one", "other"), UNLIKE.values(), ids=UNLIKE.keys())
def test_what_differs_in_kind_is_unknown(one: Any, other: Any) -> None:
    kinds = Kinds()
    kinds.add(kind_of(one))
    assert (True, False) == (kinds.has(kind_of(one)), kinds.has(kind_of(other)))


@pytest.mark.parametrize("made", [np.zeros, torch.zeros, lambda size: [0.0] * size])
def test_sizes_count_until_two_right_ones_had_different_ones(made: Any) -> None:
    kinds = Kinds()
    kinds.add(kind_of(made(3)))
    assert not kinds.has(kind_of(made(4)))
    kinds.add(kind_of(made(4)))
    assert kinds.has(kind_of(made(5)))
    assert not kinds.has(kind_of(np.zeros(3, bool)))


class Asked:
    """A reference that counts how often it is asked; the checker only reads numbers."""

    def __init__(self) -> None:
        self.count = 0
        problem = ProblemFunctions(self._make, self._check, self._answer, frozenset())
        self.examiner = SoleExaminer(problem)

    def _make(self, **_arguments: object) -> Any:
        return DATA

    def _answer(self, data: Any) -> Any:
        self.count += 1
        return np.where(data > 0, 1, 0)

    def _check(self, data: Any, output: Any) -> bool:
        return np.array_equal(output, data > 0)

    def question(self, size: int = 2) -> SoleQuestion:
        return self.examiner.ask({"size": size, "seed": self.count}, None)


def test_a_reference_is_asked_once_for_each_kind_of_a_shape() -> None:
    asked = Asked()
    right = np.array([1, 0])
    found = [asked.question().complaint(right) for _ in range(3)]
    assert (["", "", ""], 1) == (found, asked.count)
    assert ("", 2) == (asked.question(size=3).complaint(right), asked.count)


def test_another_kind_is_compared_with_the_references() -> None:
    asked = Asked()
    asked.question().complaint(np.array([1, 0]))
    found = asked.question().complaint(np.array([True, False]))
    assert ("The output has dtype bool, expected int64.", 2) == (found, asked.count)


def test_a_wrong_output_makes_no_kind_known() -> None:
    asked = Asked()
    asked.question().complaint(np.array([7, 7]))
    asked.question().complaint(np.array([1, 0]))
    assert 2 == asked.count
