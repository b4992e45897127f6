"""What a reference's dtype and named tuples mean for outputs."""

import numpy as np
import pytest

from kernelbot.harness.structure import difference, holds_float64, narrowed

DOUBLE = np.ones(3)
SINGLE = np.ones(3, dtype=np.float32)


def test_a_float64_reference_takes_the_outputs_float_type() -> None:
    assert "" == difference(narrowed((DOUBLE, 1), (SINGLE, 1)), (SINGLE, 1))


def test_a_float64_reference_takes_no_integers_for_floats() -> None:
    output = np.ones(3, dtype=np.int32)
    assert difference(narrowed(DOUBLE, output), output) == (
        "the output has dtype int32, expected float64"
    )


def test_a_float32_reference_stays_as_it_is() -> None:
    assert narrowed(SINGLE, np.ones(3, dtype=np.float16)) is SINGLE


def test_another_number_of_items_is_still_a_difference() -> None:
    output = (SINGLE, SINGLE)
    assert difference(narrowed((DOUBLE,), output), output) == "the output has 2 items, expected 1"


@pytest.mark.parametrize(
    ("data", "expected"),
    [((SINGLE, DOUBLE), True), ({"a": [DOUBLE]}, True), ((SINGLE, 1.0), False), (None, False)],
)
def test_doubles_are_found_anywhere(data: object, expected: bool) -> None:
    assert expected == holds_float64(data)


@pytest.mark.torch
def test_torchs_named_results_are_tuples() -> None:
    torch = pytest.importorskip("torch", reason="torch isn't installed")
    named = torch.ones(3, 3).max(dim=0)
    assert "" == difference(named, tuple(named))
    assert "" == difference(tuple(named), named)
