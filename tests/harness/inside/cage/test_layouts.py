"""Strides are compared where the order in memory is the work, and are free elsewhere."""

from typing import Any

import numpy as np
import pytest
import torch

from kernelbot.harness.inside.cage.checking import unlike
from kernelbot.harness.inside.cage.loader import ProblemFunctions

X = np.arange(6.0).reshape(2, 3)
SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])
SYMMETRIC = np.array([[1.0, 2.0], [2.0, 4.0]])
IMAGES = torch.arange(24.0).reshape(1, 2, 3, 4)
DENSE = np.ascontiguousarray


def said(data: Any, right: Any, output: Any, *, contiguous: bool = False) -> str:
    problem = ProblemFunctions(dict, lambda _data, _output: True, None, frozenset(), contiguous)
    return unlike(problem, right, output, data)


WORK = {
    "a transposed copy": (X, DENSE(X.T), X.T),
    "of a square": (SQUARE, DENSE(SQUARE.T), SQUARE.T.copy(order="A")),
    "narrowed": (X, DENSE(X.T).astype(np.float32), X.T.astype(np.float32)),
    "one of several": ((SQUARE, X), {"y": DENSE(X.T)}, {"y": X.T}),
    "NHWC": (IMAGES, IMAGES.permute(0, 2, 3, 1).contiguous(), IMAGES.permute(0, 2, 3, 1)),
    "made contiguous": (np.asfortranarray(X), X, np.asfortranarray(X)),
    "narrow floats": (
        torch.tensor(X).to(torch.float8_e4m3fn),
        torch.tensor(X).to(torch.float8_e4m3fn).T.contiguous(),
        torch.tensor(X).to(torch.float8_e4m3fn).T,
    ),
}
FREE = {
    "a right one": (X, DENSE(X.T), DENSE(X.T)),
    "a view like the reference's": (X, X.T, X.T),
    "a copy of such a view": (X, X.T, DENSE(X.T)),
    "a product": (SQUARE, SQUARE @ SQUARE, (SQUARE.T @ SQUARE.T).T),
    "what is symmetric": (SYMMETRIC, SYMMETRIC.copy(), SYMMETRIC.T),
    "another array's order": ((SQUARE, X), SQUARE * 2, np.asfortranarray(SQUARE * 2)),
    "vectors": (np.arange(3.0), np.arange(3.0), np.arange(3.0)),
    "numbers": (X, 1.0, 1.0),
}


@pytest.mark.parametrize(("data", "right", "output"), WORK.values(), ids=WORK.keys())
def test_exchanged_strides_are_no_copy(data: Any, right: Any, output: Any) -> None:
    assert "Here the order in memory is the work." in said(data, right, output)
    assert "" == said(data, right, right)


@pytest.mark.parametrize(("data", "right", "output"), FREE.values(), ids=FREE.keys())
def test_elsewhere_strides_are_free(data: Any, right: Any, output: Any) -> None:
    assert "" == said(data, right, output)


@pytest.mark.parametrize("right", [SQUARE * 2, None])
def test_a_problem_may_ask_for_contiguous_arrays(right: Any) -> None:
    found = [
        said(SQUARE, right, output, contiguous=True)
        for output in (SQUARE * 2, np.asfortranarray(SQUARE * 2))
    ]
    assert ["", True] == [found[0], "asks for contiguous arrays" in found[1]]


def test_the_sentence_names_the_strides() -> None:
    assert said(X, DENSE(X.T), X.T) == (
        "The output of shape (3, 2) has the strides (1, 3), the reference's (2, 1). Here the order "
        "in memory is the work. Return a contiguous copy."
    )
