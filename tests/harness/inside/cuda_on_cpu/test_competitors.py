"""Kernels in the styles that competitors use compute what numpy does."""

import ctypes
import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation
from kernelbot.harness.inside.cuda_on_cpu.headers import CHECKED_FLAGS, CHECKED_LIBRARIES
from tests.harness.inside.cuda_on_cpu.test_running import build
from tests.support.exhaustive import cases

# Each run has test_each_thread_knows_its_index (test_running.py) and mistakes (test_faults.py)
pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed"),
    pytest.mark.exhaustive,
]
SOURCES = ("competitors.cu", "competitors_more.cu")
RANDOM = np.random.default_rng(25)
Array = npt.NDArray[Any]
Call = Callable[..., None]


@pytest.fixture(scope="module", params=cases(["plain", "checked"], always=["plain"]))
def call(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Call:
    """Calls a host function of either file, which is compiled when it is needed; nothing may be
    said of its launches, also where each access of memory is looked at."""
    checked = request.param == "checked"
    flags, libraries = (CHECKED_FLAGS, CHECKED_LIBRARIES) if checked else ((), ())

    @functools.cache
    def loaded(source: str) -> tuple[ctypes.CDLL, Emulation]:
        folder = tmp_path_factory.mktemp("competitors")
        library = ctypes.CDLL(str(build(folder, _text(source), *flags, libraries=libraries)))
        emulation = Emulation.find(library)
        assert emulation is not None
        return library, emulation

    def run(name: str, *given: Any) -> None:
        source = next(one for one in SOURCES if f" {name}(" in _text(one))
        library, emulation = loaded(source)
        for place, one in enumerate(given, 1):
            if checked and isinstance(one, np.ndarray):
                emulation.give(place, one.ctypes.data, one.nbytes)
        library[name](
            *(ctypes.c_void_p(one.ctypes.data) if hasattr(one, "ctypes") else one for one in given)
        )
        emulation.expect_no_error()

    return run


def _text(source: str) -> str:
    return Path(__file__).with_name(source).read_text()


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape, dtype=np.float32)


def bfloat(values: Array) -> npt.NDArray[np.uint16]:
    """Rounded to the nearest, ties to even."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def widened(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("size", [3, 1027, 5000])
def test_four_at_a_time_and_a_tail(call: Call, size: int) -> None:
    x, y = normal(size), normal(size)
    expected = y + np.float32(2.5) * x
    call("run_saxpy", x, y, size)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


def test_a_softmax_by_shuffles(call: Call) -> None:
    a, out = normal(5, 333) * 9, np.zeros((5, 333), np.float32)
    call("run_softmax", a, out, 5, 333)
    exact = np.exp(a.astype(float) - a.max(1, keepdims=True))
    np.testing.assert_allclose(out, exact / exact.sum(1, keepdims=True), rtol=1e-4)


def test_a_block_sorts_its_keys_with_their_values(call: Call) -> None:
    size, all_items = 301, 64 * 5
    keys = np.round(normal(size) * 5).astype(np.float32)
    keys[keys == 0] = np.where(RANDOM.random((keys == 0).sum()) < 0.5, 0.0, -0.0)
    ordered, source = np.zeros(size, np.float32), np.zeros(size, np.int32)
    down = np.zeros(all_items, np.uint32)
    call("run_sort", keys, ordered, source, down, size)
    expected = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(source, expected)
    np.testing.assert_array_equal(ordered, keys[expected])
    at = np.arange(all_items, dtype=np.uint64)
    bits = np.where(at < size, (at * 2654435761 % 2**32) >> 20, 0).astype(np.uint32)
    np.testing.assert_array_equal(down, bits[np.argsort(255 - (bits >> 4 & 255), kind="stable")])


def test_what_is_positive_is_moved_together(call: Call) -> None:
    a = RANDOM.integers(-9, 9, 1000, dtype=np.int32)
    out, count = np.zeros(1000, np.int32), np.zeros(1, np.int32)
    call("run_compact", a, out, count, a.size)
    np.testing.assert_array_equal(out[: count[0]], a[a > 0])


@pytest.mark.parametrize("name", ["run_histogram", "run_cub_histogram"])
def test_histograms(call: Call, name: str) -> None:
    a = RANDOM.integers(0, 256, 1024 if "cub" in name else 1023).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    call(name, a, bins, a.size)
    np.testing.assert_array_equal(bins, np.bincount(a, minlength=256))


def test_attention_with_an_online_softmax(call: Call) -> None:
    size = 150
    q, k, v, out = normal(size, 32), normal(size, 32), normal(size, 32), normal(size, 32)
    call("run_attention", q, k, v, out, size)
    scores = q.astype(float) @ k.T / np.sqrt(32)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(
        out, weights @ v / weights.sum(1, keepdims=True), rtol=1e-3, atol=1e-5
    )


def test_a_transposition_by_padded_tiles(call: Call) -> None:
    a, out = normal(45, 70), np.zeros((70, 45), np.float32)
    call("run_transpose", a, out, 70, 45)
    np.testing.assert_array_equal(out, a.T)


def test_a_product_split_along_its_inner_dimension(call: Call) -> None:
    a, b, out = normal(37, 100), normal(100, 41), normal(37, 41)
    call("run_split_k", a, b, out, 37, 41, 100)
    np.testing.assert_allclose(out, a.astype(float) @ b, rtol=1e-4, atol=1e-4)


def test_pairs_of_halves(call: Call) -> None:
    x = np.concatenate([normal(200) * 3, np.array([7, 8], np.float32)]).astype(np.float16)
    out = np.zeros(x.size, np.float16)
    call("run_gelu", x, out, x.size)
    exact = x.astype(float)
    exact = 0.5 * exact * (1 + np.tanh(0.79788456 * (exact + 0.044715 * exact**3))) + (exact > 6)
    np.testing.assert_allclose(out.astype(float), exact, rtol=4e-3, atol=4e-3)


def test_a_norm_of_pairs_of_bfloat16(call: Call) -> None:
    x, weight = bfloat(normal(4, 256)), bfloat(normal(256))
    out = np.zeros((4, 256), np.uint16)
    call("run_rms_norm", x, weight, out, 4, 256)
    wide = widened(x).astype(float)
    scale = bfloat(1 / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5))
    expected = bfloat(widened(bfloat(widened(x) * widened(scale))) * widened(weight))
    np.testing.assert_array_equal(out, expected)


def test_groups_of_a_warp(call: Call) -> None:
    size = 150
    a = RANDOM.integers(-9, 9, size, dtype=np.int32)
    sums, counts = np.zeros(1, np.int32), np.zeros(193, np.int32)
    upto, before = np.zeros(192, np.int32), np.zeros(192, np.int32)
    call("run_tiles", a, sums, upto, before, counts, size)
    padded = np.append(a, np.zeros(42, np.int32))
    rows = padded.reshape(-1, 32)
    assert a.sum() == sums[0]
    np.testing.assert_array_equal(upto, padded.reshape(-1, 8).cumsum(1).ravel())
    np.testing.assert_array_equal(before, (rows.cumsum(1) - rows).ravel())
    np.testing.assert_array_equal(np.sort(counts[1 : 1 + counts[0]]), np.sort(a[a > 0]))


def test_the_largest_float_by_the_order_of_integers(call: Call) -> None:
    a = normal(1000)
    most, packed = np.array([-np.inf], np.float32), np.zeros(1, np.uint64)
    call("run_largest", a, most, packed, a.size)
    assert a.max() == most[0]
    assert a.argmax() == 0xFFFFFFFF - int(packed[0] & np.uint64(0xFFFFFFFF))


def test_lambdas_of_the_device(call: Call) -> None:
    a, out = normal(300), np.zeros(300, np.float32)
    call("run_lambdas", a, out, 300, ctypes.c_float(0.5))
    np.testing.assert_allclose(out, np.where(a > 0, a, 0.5 * a) ** 2, rtol=1e-6)


def test_a_convolution_with_a_halo(call: Call) -> None:
    a, taps, out = normal(37, 50), normal(5, 5), np.zeros((37, 50), np.float32)
    call("run_convolve", a, taps, out, 50, 37)
    padded = np.pad(a, 2, mode="edge").astype(float)
    expected = sum(taps[y, x] * padded[y : y + 37, x : x + 50] for y in range(5) for x in range(5))
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


def test_the_last_block_adds_what_others_left(call: Call) -> None:
    a, out = RANDOM.random(5000), np.zeros(1)
    for _ in range(2):
        call("run_single_pass", a, out, a.size)
        np.testing.assert_allclose(out[0], a.sum(), rtol=1e-12)


def test_products_of_eight_bits(call: Call) -> None:
    a, b = RANDOM.integers(-128, 128, (2, 6, 1040)).astype(np.int8)
    out = np.zeros(6, np.int32)
    call("run_dot_products", a, b, out, 6, 1040)
    np.testing.assert_array_equal(out, (a.astype(np.int32) * b).sum(1))


def test_a_scan_that_looks_back_at_other_blocks(call: Call) -> None:
    a, out = RANDOM.integers(-99, 99, 1000, dtype=np.int32), np.zeros(1000, np.int32)
    call("run_look_back", a, out, a.size)
    np.testing.assert_array_equal(out, a.cumsum())


def test_a_bitonic_sort_of_short_numbers(call: Call) -> None:
    a = RANDOM.integers(-9999, 9999, (3, 128)).astype(np.int16)
    expected = np.sort(a, axis=1)
    call("run_bitonic", a, 3)
    np.testing.assert_array_equal(a, expected)


def test_rotary_embeddings_of_halves(call: Call) -> None:
    x = normal(7, 3, 16).astype(np.float16)
    frequency = (10000.0 ** -(np.arange(8) / 8)).astype(np.float32)
    even, odd = x[..., ::2].astype(float), x[..., 1::2].astype(float)
    angle = np.arange(7)[:, None, None] * frequency.astype(float)
    call("run_rotate", x, frequency, 7, 3, 16)
    expected = np.stack(
        [
            even * np.cos(angle) - odd * np.sin(angle),
            even * np.sin(angle) + odd * np.cos(angle),
        ],
        axis=-1,
    ).reshape(x.shape)
    np.testing.assert_allclose(x.astype(float), expected, rtol=2e-3, atol=2e-3)


def test_random_numbers_of_philox(call: Call) -> None:
    out = np.zeros((64, 4), np.uint32)
    call("run_draw", out)
    expected = np.zeros((64, 4), np.uint64)
    expected[:, 0] = np.arange(64)
    low = np.uint64(0xFFFFFFFF)
    key = np.array([42, 7], np.uint64)
    for _ in range(10):
        first = expected[:, 0] * np.uint64(0xD2511F53)
        second = expected[:, 2] * np.uint64(0xCD9E8D57)
        expected = np.stack(
            [
                (second >> np.uint64(32)) ^ expected[:, 1] ^ key[0],
                second & low,
                (first >> np.uint64(32)) ^ expected[:, 3] ^ key[1],
                first & low,
            ],
            axis=1,
        )
        key = (key + np.array([0x9E3779B9, 0xBB67AE85], np.uint64)) & low
    np.testing.assert_array_equal(out, expected)


def test_cubs_reductions_by_the_operators_of_cuda_13(call: Call) -> None:
    a, out = normal(1000), np.zeros(3, np.float32)
    call("run_extremes", a, out, a.size)
    np.testing.assert_allclose(out, [a.max(), a.min(), a.sum()], rtol=1e-5)
