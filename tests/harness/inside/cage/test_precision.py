"""What a reference's dtype and named tuples mean for outputs."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kernelbot.harness.inside.cage.comparison import difference, likeness, size_bytes

DOUBLE = np.ones(3)
SINGLE = np.ones(3, dtype=np.float32)
HALF = np.ones(3, dtype=np.float16)
WHOLE = np.ones(3, dtype=np.int32)
NAN = float("nan")


def unlike(expected: Any, output: Any, data: Any = SINGLE) -> str:
    return difference(expected, output, likeness(data, frozenset({__name__})))


def test_a_float64_reference_takes_the_floats_of_the_data() -> None:
    assert "" == unlike((DOUBLE, 1), (SINGLE, 1))
    assert "" == unlike(np.float64(1), np.float32(1))


def test_a_float64_reference_takes_more_precise_floats_than_those_of_the_data() -> None:
    assert "" == unlike(DOUBLE, SINGLE, HALF)
    assert "" == unlike(DOUBLE, DOUBLE, HALF)


@pytest.mark.parametrize("data", [SINGLE, (HALF, SINGLE), {"a": [SINGLE]}, WHOLE, DOUBLE, None])
def test_a_float64_reference_takes_no_floats_less_precise_than_the_data(data: object) -> None:
    assert unlike(DOUBLE, HALF, data) == "the output has dtype float16, expected float64"


def test_a_float64_reference_over_whole_numbers_takes_float64_only() -> None:
    assert unlike(DOUBLE, SINGLE, WHOLE) == "the output has dtype float32, expected float64"


def test_a_float64_reference_takes_no_integers_for_floats() -> None:
    assert unlike(DOUBLE, WHOLE) == "the output has dtype int32, expected float64"


def test_a_float32_reference_stays_as_it_is() -> None:
    assert unlike(SINGLE, HALF, HALF) == "the output has dtype float16, expected float32"


@pytest.mark.parametrize(
    ("number", "scalar"),
    [
        (1.5, np.float64(1.5)),
        (1.5, np.float32(1.5)),
        (2, np.int64(2)),
        (2, np.uint8(2)),
        (True, np.bool_(True)),
        (1j, np.complex64(1j)),
    ],
)
def test_a_number_of_the_reference_takes_what_a_reduction_returns(
    number: object, scalar: object
) -> None:
    assert "" == unlike({"top": number}, {"top": scalar})


@pytest.mark.parametrize(
    ("number", "scalar"),
    [
        (1.5, np.float16(1.5)),
        (1.5, np.int64(1)),
        (2, np.float64(2)),
        (2, np.bool_(True)),
        (True, np.int64(1)),
        ("2", np.int64(2)),
        (None, np.int64(0)),
    ],
)
def test_but_no_less_precise_one_and_none_of_another_kind(number: object, scalar: object) -> None:
    assert unlike(number, scalar).startswith("the output is a value of type numpy.")


def test_nor_one_that_is_nan_where_the_reference_has_a_number() -> None:
    assert "the output contains NaN where the reference has none" == unlike(1.5, np.float64(NAN))


def test_another_number_of_items_is_still_a_difference() -> None:
    assert unlike((DOUBLE,), (SINGLE, SINGLE)) == "the output has 2 items, expected 1"
    assert unlike((DOUBLE, DOUBLE), (SINGLE,)) == "the output has 1 items, expected 2"
    assert unlike([DOUBLE], []) == "the output has 0 items, expected 1"


@pytest.mark.parametrize(
    "make",
    [
        lambda number: number,
        lambda number: complex(0, number),
        lambda number: [1, (number,)],
        lambda number: {"loss": number},
        lambda number: np.float32(number),
        lambda number: np.array([1, number], dtype=np.complex64),
        lambda number: Record(SINGLE, number),
        lambda number: Named(SINGLE, number),
    ],
)
def test_nan_is_found_anywhere(make: Any) -> None:
    assert unlike(make(1.0), make(NAN)).endswith("contains NaN where the reference has none")
    assert "" == unlike(make(NAN), make(NAN))
    assert "" == unlike(make(NAN), make(1.0))


@dataclass
class Record:
    array: Any
    number: Any = 1.0


Named = namedtuple("Named", ["array", "number"])


@pytest.mark.parametrize("kind", [Record, Named])
def test_the_fields_of_records_are_compared(kind: Any) -> None:
    assert "" == unlike(kind(SINGLE, 1.0), kind(SINGLE, 2.0))
    assert "" == unlike(kind(DOUBLE, 1.0), kind(SINGLE, 2.0))
    assert unlike(kind(SINGLE, 1.0), kind(WHOLE, 1.0)) == (
        "the output.array has dtype int32, expected float32"
    )
    assert unlike(kind(SINGLE, 1.0), kind(SINGLE, 1)) == (
        "the output.number is a value of type int, expected a value of type float"
    )


def test_the_floats_of_the_data_are_found_in_records() -> None:
    assert "" == unlike(DOUBLE, HALF, Record(HALF))
    assert unlike(DOUBLE, HALF, Named(HALF, SINGLE)) != ""


def test_the_bytes_of_all_parts_count() -> None:
    parts = [DOUBLE, Record({"a": SINGLE}, 1.0), Named(b"four", "text"), np.float32(1)]
    assert 24 + 12 + 4 + 4 == size_bytes(parts)


def test_a_shared_named_tuple_is_no_plain_tuple() -> None:
    assert unlike(Named(SINGLE, 1.0), (SINGLE, 1.0)) == (
        f"the output is a value of type tuple, expected a value of type {__name__}.Named"
    )


def test_numpys_named_results_are_tuples() -> None:
    named = np.linalg.qr(np.ones((3, 3)))
    assert "" == unlike(named, tuple(named), DOUBLE)
    assert "" == unlike(tuple(named), named, DOUBLE)


@pytest.mark.torch
def test_torchs_named_results_are_tuples() -> None:
    torch = pytest.importorskip("torch", reason="torch isn't installed")
    named = torch.ones(3, 3).max(dim=0)
    assert "" == unlike(named, tuple(named))
    assert "" == unlike(tuple(named), named)


@pytest.mark.torch
def test_bfloat16_does_not_stand_for_float32() -> None:
    torch = pytest.importorskip("torch", reason="torch isn't installed")
    double, single = torch.ones(3, dtype=torch.float64), torch.ones(3)
    assert unlike(double, single.bfloat16(), single) == (
        "the output has dtype torch.bfloat16, expected torch.float64"
    )
    assert unlike(double, single.bfloat16(), single.half()) != ""
    assert "" == unlike(double, single.bfloat16(), single.bfloat16())


@pytest.mark.torch
@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "bfloat16"])
def test_nan_is_found_in_floats_of_few_bits(name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch isn't installed")
    good = torch.ones(3).to(getattr(torch, name))
    bad = torch.full((3,), NAN).to(getattr(torch, name))
    assert unlike(good, bad) == "the output contains NaN where the reference has none"
    assert "" == unlike(bad, good)
