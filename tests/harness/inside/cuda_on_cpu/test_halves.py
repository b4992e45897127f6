"""Sixteen bits in pairs, directions of rounding, and what is made of integers' bits."""

import ctypes
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.harness.inside.cuda_on_cpu.test_running import build

# Each run has test_each_thread_knows_its_index (test_running.py) and mistakes (test_faults.py)
pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed"),
    pytest.mark.exhaustive,
]
Array = npt.NDArray[Any]
Call = Callable[..., None]
HALVES = np.array(
    [0.0, -0.0, 1.0, -1.5, 0.3, 2.5, -2.5, 7.0, 100.0, 3e-5, np.inf, -np.inf, np.nan, 65504.0],
    np.float16,
)


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    source = Path(__file__).with_name("halves.cu").read_text()
    library = ctypes.CDLL(str(build(tmp_path_factory.mktemp("halves"), source)))

    def run(name: str, *given: Any) -> None:
        library[name](
            *(ctypes.c_void_p(one.ctypes.data) if hasattr(one, "ctypes") else one for one in given)
        )

    return run


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_pairs_are_computed_element_by_element(call: Call) -> None:
    a, b = (one.ravel() for one in np.meshgrid(HALVES, HALVES))
    pairs = a.size // 2
    out, masks = np.zeros((14, a.size), np.float16), np.zeros((2, pairs), np.uint32)
    call("run_halves", a, b, out, masks, pairs)
    x, y = a.astype(np.float32), b.astype(np.float32)
    fused = (x.astype(float) * y + y).astype(np.float16)
    expected = [
        np.where(np.isnan(x + y), 0, np.clip(x + y, 0, 1)),
        np.where(np.isnan(x * y), 0, np.clip(x * y, 0, 1)),
        np.where(fused < 0, 0, fused),
        x / y,
        -x,
        np.abs(x),
        np.exp2(x),
        np.floor(x),
        np.rint(x),
        np.maximum(x, y),
        x <= y,
        ~(x <= y),
        np.isnan(x),
        a.reshape(-1, 2)[:, ::-1].ravel(),
    ]
    for got, one in zip(out, expected, strict=True):
        np.testing.assert_array_equal(got, one.astype(np.float16))
    low, high = (x < y).reshape(-1, 2).T
    np.testing.assert_array_equal(masks[0], low * 0xFFFF + high * 0xFFFF0000)
    ordered = ((x < y) | (x > y)).reshape(-1, 2).all(1)
    equal, unequal = (x == y).reshape(-1, 2).all(1), (x != y).reshape(-1, 2).all(1)
    np.testing.assert_array_equal(masks[1], ordered * 4 + equal * 2 + unequal)


def rounded_bits(bits: Array, kind: str) -> Array:
    if kind == "half":
        return bits.view(np.float16).astype(np.float64)
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


@pytest.mark.parametrize("kind", ["half", "bfloat"])
def test_conversions_round_in_their_direction(call: Call, kind: str) -> None:
    random = np.random.default_rng(16)
    a = (random.standard_normal(200) * 10.0 ** random.integers(-4, 4, 200)).astype(np.float32)
    a[:4] = [0, 1.5, -2, 1e-6]
    b = random.integers(-60000, 60000, 200, dtype=np.int32)
    down, up, zero, source = np.zeros((4, 200), np.uint16)
    whole = np.zeros(200, np.int32)
    call(f"run_convert_{kind}", a, down, up, zero, whole, b, source, 200)
    lower, upper, toward, of_int = (rounded_bits(one, kind) for one in (down, up, zero, source))
    exact = a.astype(float)
    assert ((lower <= exact) & (exact <= upper)).all()
    next_up = rounded_bits(
        np.where(down == 0, 1, down + np.where(lower < 0, -1, 1)).astype(np.uint16), kind
    )
    np.testing.assert_array_equal(np.where(lower == exact, lower, next_up), upper)
    np.testing.assert_array_equal(np.where(exact < 0, upper, lower), toward)
    np.testing.assert_array_equal((np.ceil if kind == "half" else np.floor)(lower), whole)
    assert ((np.abs(of_int) <= np.abs(b)) & (np.abs(b) < np.abs(of_int) * 1.01 + 1)).all()


def test_floats_round_in_a_direction(call: Call) -> None:
    random = np.random.default_rng(17)
    a, b = random.standard_normal((2, 50)).astype(np.float32)
    out = np.zeros(7 * 50 + 1, np.float32)
    call("run_directed", a, b, out, 50)
    results = out[:-1].reshape(7, 50)
    assert np.float32(1 / 7) == pytest.approx(out[-1])
    for i in range(50):
        x, y = Fraction(float(a[i])), Fraction(float(b[i]))
        exact = [x + y, x + y, x * y, x / y, None, x * y + x, 1 / y]
        ways = ["down", "up", "zero", "down", "up", "down", "up"]
        for got, value, way in zip(results[:, i], exact, ways, strict=True):
            if value is None:
                assert Fraction(float(got)) ** 2 >= abs(x)
                below = Fraction(float(np.nextafter(got, np.float32(0))))
                assert below**2 < abs(x)
                continue
            up = way == "up" or (way == "zero" and value < 0)
            other = np.nextafter(got, np.float32(-np.inf if up else np.inf))
            near, far = Fraction(float(got)), Fraction(float(other))
            assert (far < value <= near) if up else (near <= value < far)


def test_integers_and_their_bits(call: Call) -> None:
    out = np.zeros(11, np.uint32)
    call("run_integers", out, ctypes.c_longlong(1 << 62))
    signed = out.view(np.int32)
    assert [2147483646, -3, 4294967294, 4, 15, 5, -1, 1, 2, -7, 9] == [
        signed[0], signed[1], out[2], out[3], out[4], out[5], signed[6], out[7], out[8],
        signed[9], signed[10],
    ]  # fmt: skip


def test_atomic_sums_of_vectors(call: Call) -> None:
    two, four, halves = np.zeros(2, np.float32), np.zeros(4, np.float32), np.zeros(2, np.float16)
    call("run_sums", two, four, halves)
    assert [40, 780, 40, 80, 120, 780, 40, 80] == [*two, *four, *halves]
