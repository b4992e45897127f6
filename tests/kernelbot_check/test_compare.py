import math

import numpy as np
import pytest

from kernelbot_check import compare
from kernelbot_check.compare import Tolerance

FLOATS = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_what_is_equal_agrees() -> None:
    assert compare(FLOATS.copy(), FLOATS) == (True, "")


def test_the_first_differing_elements_are_shown() -> None:
    other = FLOATS + 1
    other[0, 0] = 0
    good, message = compare(other, FLOATS, shown=2)
    assert (good, message) == (
        False,
        (
            "the output differs in 5 of 6 elements:\n"
            "  [0, 1]: 2.0, expected 1.0\n"
            "  [0, 2]: 3.0, expected 2.0\n"
            "  ... and 3 more"
        ),
    )


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (None, "the output is None, expected of type numpy.ndarray"),
        (FLOATS.tolist(), "the output is of type list, expected of type numpy.ndarray"),
        (FLOATS.astype(np.float64), "the output has dtype float64, expected float32"),
        (FLOATS.T, "the output has shape (3, 2), expected (2, 3)"),
    ],
)
def test_another_kind_is_refused(output: object, message: str) -> None:
    assert compare(output, FLOATS) == (False, message)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_odd_numbers_are_never_near(odd: float) -> None:
    other = FLOATS.copy()
    other[1, 2] = odd
    assert not compare(other, FLOATS, rtol=1e9, atol=1e9)[0]
    assert not compare(FLOATS, other, rtol=1e9, atol=1e9)[0]


@pytest.mark.parametrize("odd", [np.inf, -np.inf])
def test_nor_are_numbers_of_python(odd: float) -> None:
    near = [compare(one, other, rtol=0.1, atol=1.0)[0] for one, other in ((5.0, odd), (odd, 5.0))]
    assert ([False, False], True) == (near, compare(odd, odd, rtol=0.1)[0])


def test_infinities_equal_themselves_and_nan_only_if_asked() -> None:
    odd = np.array([np.inf, -np.inf, np.nan])
    assert (compare(odd[:2], odd[:2])[0], compare(odd, odd)[0]) == (True, False)
    assert compare(odd, odd, equal_nan=True)[0]


def test_a_tolerance_is_for_floating_point_alone() -> None:
    whole = np.array([10, 20])
    assert compare(np.array([10.0, 20.1]), np.array([10.0, 20.0]), rtol=0.01)[0]
    assert not compare(whole + 1, whole, rtol=1.0, atol=100.0)[0]


def test_unsigned_numbers_differ_both_ways() -> None:
    few, many = np.array([1], np.uint8), np.array([2], np.uint8)
    assert (compare(few, many)[0], compare(many, few)[0]) == (False, False)


def test_parts_are_named() -> None:
    expected = {"a": (FLOATS, 1), "b": [True]}
    assert compare({"a": (FLOATS, 1), "b": [True]}, expected)[0]
    assert compare({"a": (FLOATS, 2), "b": [True]}, expected)[1] == (
        "the output['a'][1] is 2, expected 1"
    )
    assert compare({"a": (FLOATS,), "b": [True]}, expected)[1] == (
        "the output['a'] has 1 items, expected 2"
    )
    assert not compare({"a": (FLOATS, 1)}, expected)[0]


def test_whole_numbers_are_not_truth_values() -> None:
    assert not compare(1, True)[0]


@pytest.mark.parametrize(
    ("output", "good"), [(1.0, True), (1.05, True), (1.2, False), (float("nan"), False)]
)
def test_plain_numbers_have_the_tolerance_too(output: float, good: bool) -> None:
    assert good is compare(output, 1.0, rtol=0.1)[0]


@pytest.mark.parametrize(
    ("output", "expected", "good"),
    [
        (2.0, 4.0, True),  # the tolerance is a share of what is expected
        (4.0, 2.0, False),
        (1.5, 4.0, False),
        (0.0, math.nan, False),
        (math.nan, 0.0, False),
        (math.nan, math.nan, True),
    ],
)
def test_plain_numbers_and_elements_are_near_alike(
    output: float, expected: float, good: bool
) -> None:
    """Up to the tolerance, and NaN only to itself."""
    nested = compare((output,), (expected,), rtol=0.5, equal_nan=True)[0]
    arrays = compare(np.array([output]), np.array([expected]), rtol=0.5, equal_nan=True)[0]
    assert (good, good) == (nested, arrays)


def test_infinities_are_no_distance_from_what_is_expected() -> None:
    """What stands in their place has no tolerance either."""
    odd, other = np.array([np.inf, 0.0]), np.array([np.inf, 0.5])
    assert [True, False] == [compare(odd, one)[0] for one in (odd, other)]


def test_without_a_word_all_is_exact_and_five_elements_are_shown() -> None:
    assert Tolerance(rtol=0.0, atol=0.0, equal_nan=False) == Tolerance()
    close = FLOATS + np.float32(1e-6)
    assert ["", "  ... and 1 more"] == [
        compare(FLOATS, FLOATS)[1],
        compare(close + 1, FLOATS)[1].splitlines()[-1],
    ]
    assert not compare(1.0, 1.0 + 1e-15)[0]


def test_all_that_differ_are_shown_if_there_is_room() -> None:
    assert "more" not in compare(FLOATS + 1, FLOATS, shown=6)[1]
    assert compare(FLOATS + 1, FLOATS, shown=5)[1].endswith("\n  ... and 1 more")


def test_empty_arrays_agree() -> None:
    assert compare(np.zeros((0, 3)), np.zeros((0, 3)))[0]


def test_tensors_are_compared_alike() -> None:
    torch = pytest.importorskip("torch")
    expected = torch.arange(4.0).reshape(2, 2)
    other = expected.clone()
    other[1, 0] = 7
    assert compare(expected.clone(), expected)[0]
    assert compare(other, expected)[1].endswith("  [1, 0]: 7.0, expected 2.0")
    assert compare(expected.half(), expected)[1] == (
        "the output has dtype float16, expected float32"
    )
    assert compare(FLOATS, expected)[1].startswith("the output is of type numpy.ndarray")


def test_low_precision_is_compared_in_high() -> None:
    torch = pytest.importorskip("torch")
    ones = torch.ones(3, dtype=torch.bfloat16)
    assert compare(ones * 1.01, ones, rtol=0.02)[0]
    assert not compare(ones * 1.05, ones, rtol=0.02)[0]
