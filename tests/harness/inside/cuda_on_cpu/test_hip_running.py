"""HIP's kernels on the processor compute what they compute on a GPU of AMD's."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation
from kernelbot.harness.inside.cuda_on_cpu.headers import CHECKED_FLAGS, CHECKED_LIBRARIES
from tests.harness.inside.cuda_on_cpu.test_running import build
from tests.support.exhaustive import few

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed")
SOURCE = Path(__file__).with_name("kernels.hip.cpp")
MISTAKES = Path(__file__).with_name("checked.hip.cpp")
LINES = MISTAKES.read_text().splitlines()
Call = Callable[..., Any]
RANDOM = np.random.default_rng(3)
LANES = np.arange(128)
THERE = LANES < 104
WAVES = np.array([2**64 - 1, 2**40 - 1], np.uint64)


def pointer(given: Any) -> Any:
    return ctypes.c_void_p(given.ctypes.data) if hasattr(given, "ctypes") else given


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    built = build(tmp_path_factory.mktemp("hip"), SOURCE.read_text(), hip=True)
    library = ctypes.CDLL(str(built))
    yield lambda name, *given: library[name](*map(pointer, given))
    emulation = Emulation.find(library)
    assert emulation is not None
    emulation.expect_no_error()


@pytest.mark.exhaustive  # each run has test_a_mistake_is_found_with_its_thread_and_line
def test_a_launch_by_name_converts_its_arguments_to_the_kernels_parameters(call: Call) -> None:
    a, b = RANDOM.random((2, 1000), dtype=np.float32)
    out = np.zeros(1000, np.float32)
    call("run_add", a, b, out, 1000)
    np.testing.assert_array_equal(a + b, out)


@pytest.mark.exhaustive  # each run has test_a_mistake_is_found_with_its_thread_and_line
def test_a_templates_kernel_is_launched_by_name(call: Call) -> None:
    a, out = np.arange(384, dtype=np.int32), np.zeros(384, np.int32)
    call("run_reverse", a, out, 3)
    np.testing.assert_array_equal(a.reshape(3, 128)[:, ::-1].ravel(), out)


def test_waves_of_64_lanes_add_up_a_block(call: Call) -> None:
    a, out = RANDOM.integers(-100, 100, 10_007).astype(np.float32), np.zeros(1, np.float32)
    call("run_sum", a, out, a.size)
    assert a.sum() == out[0]


def test_a_wave_makes_a_softmax_of_a_row(call: Call) -> None:
    a, out = RANDOM.random((8, 200), dtype=np.float32), np.zeros((8, 200), np.float32)
    call("run_softmax", a, out, 8, 200)
    powers = np.exp(a - a.max(axis=1, keepdims=True))
    np.testing.assert_allclose(powers / powers.sum(axis=1, keepdims=True), out, rtol=1e-5)


def test_a_barrier_comes_between_shared_writes_and_reads(call: Call) -> None:
    a, out = RANDOM.random((100, 70), dtype=np.float32), np.zeros((70, 100), np.float32)
    call("run_transpose", a, out, 100, 70)
    np.testing.assert_array_equal(a.T, out)


def test_a_product_of_matrices_of_eight_and_sixteen_bits(call: Call) -> None:
    n = 32
    bits = RANDOM.integers(0x20, 0x40, (n, n)).astype(np.uint8)
    b = RANDOM.integers(-4, 4, (n, n)).astype(np.float16)
    out = np.zeros((n, n), np.uint16)
    call("run_matmul", bits, b, out, n)
    wide = (out.astype(np.uint32) << 16).view(np.float32)
    values = eight_values("e4m3_fnuz").astype(np.float32)
    np.testing.assert_allclose(values[bits] @ b.astype(np.float32), wide, rtol=2**-8)


def lane_masks(holds: Any) -> Any:
    """For each thread the lanes of its wave for which something holds, among those there are."""
    bits = np.left_shift(np.uint64(1), (LANES % 64).astype(np.uint64))
    waves = np.where(holds & THERE, bits, 0).reshape(2, 64).sum(axis=1, dtype=np.uint64)
    return waves[LANES // 64]


def test_votes_and_masks_have_64_bits(call: Call) -> None:
    out = np.zeros((10, 128), np.int64)
    call("run_votes", out)
    matches = [lane_masks(LANES % 4 == residue) for residue in range(4)]
    odd = np.where(LANES < 64, 32, 20)
    expected = [
        lane_masks(LANES % 3 == 0),
        WAVES[LANES // 64],
        np.where(LANES < 64, 1, 10),
        np.choose(LANES % 4, matches),
        LANES % 64 + 6400,
        odd,
        np.where(LANES % 16 >= 2, LANES - 2, LANES),
        np.where(LANES < 64, 63, 0),
        np.where(LANES < 64, 63, 103),
        lane_masks(LANES % 5 == 0),
    ]
    want = np.array([np.asarray(row).astype(np.uint64).view(np.int64) for row in expected])
    np.testing.assert_array_equal(want[:, THERE], out[:, THERE])


def test_an_exchange_without_a_mask_is_between_the_lanes_that_came_there(call: Call) -> None:
    out = np.zeros((6, 64), np.int32)
    call("run_branches", out)
    lanes = np.arange(64)
    rounds = [sum(int((lanes % 5 > k).sum()) for k in range(i % 5)) for i in lanes]
    expected = [
        np.where(lanes % 3 == 0, 22, 4200),
        rounds,
        np.full(64, 18),
        lanes % 4,
        np.full(64, 64),
        np.where(lanes < 16, lanes + 17, 0),
    ]
    np.testing.assert_array_equal(expected, out)


KINDS = {"e4m3": (3, 7), "e5m2": (2, 15), "e4m3_fnuz": (3, 8), "e5m2_fnuz": (2, 16)}


def eight_values(kind: str) -> Any:
    """What each of the 256 bytes stands for, by the format's definition."""
    fraction_bits, bias = KINDS[kind]
    bits = np.arange(256)
    exponent, fraction = (bits & 127) >> fraction_bits, bits & (2**fraction_bits - 1)
    size = np.where(
        exponent == 0,
        fraction * 2.0 ** (1 - bias - fraction_bits),
        (fraction + 2**fraction_bits) * 2.0 ** (exponent - bias - fraction_bits),
    )
    values = np.where(bits < 128, size, -size)
    if kind.endswith("fnuz"):
        values[128] = np.nan
    elif kind == "e4m3":
        values[[127, 255]] = np.nan
    else:
        values[[124, 252]] = np.inf, -np.inf
        values[np.r_[125:128, 253:256]] = np.nan
    return values


def test_each_byte_of_eight_bit_floating_point_has_its_value(call: Call) -> None:
    bits, wide = np.arange(256, dtype=np.uint8), np.zeros((4, 256), np.float32)
    call("run_eights", bits, wide, np.zeros(1, np.float32), np.zeros(8, np.uint8), 1)
    np.testing.assert_array_equal([eight_values(kind) for kind in KINDS], wide)


def nearest(values: Any, given: Any) -> Any:
    """The finite value nearest to each of those given, of two equally near ones the even byte's;
    beyond the largest it is the largest."""
    order = np.array([at for at in range(128) if np.isfinite(values[at])])
    distances = np.abs(np.abs(given).astype(np.float64)[:, None] - values[order])
    is_least = distances == distances.min(axis=1, keepdims=True)
    return order[(is_least * (2 - order % 2)).argmax(axis=1)]


def test_floats_are_rounded_to_eight_bits_and_held_to_the_largest(call: Call) -> None:
    middles = [
        (values[:-1] + values[1:]) / 2 for values in (eight_values(kind)[:120] for kind in KINDS)
    ]
    many = RANDOM.normal(0, 1, 2000) * 2.0 ** RANDOM.integers(-20, 18, 2000)
    given = np.concatenate([[0.0, 1e9, -1e9], *middles, many]).astype(np.float32)
    narrow = np.zeros((8, given.size), np.uint8)
    bits, wide = np.zeros(256, np.uint8), np.zeros(1024, np.float32)
    call("run_eights", bits, wide, given, narrow, given.size)
    for row, kind in enumerate(KINDS):
        size = nearest(eight_values(kind), given)
        sign = np.where(np.signbit(given), 128, 0)
        if kind.endswith("fnuz"):
            sign[size == 0] = 0
        np.testing.assert_array_equal(size | sign, narrow[row], err_msg=kind)


@pytest.mark.parametrize(
    ("value", "held", "free"),
    [
        (1e9, [0x7E, 0x7B, 0x7F, 0x7F], [0x7F, 0x7C, 0x80, 0x80]),
        (np.inf, [0x7E, 0x7B, 0x80, 0x80], [0x7F, 0x7C, 0x80, 0x80]),
        (-np.nan, [0xFF, 0xFF, 0x80, 0x80], [0xFF, 0xFF, 0x80, 0x80]),
        (-0.0, [0x80, 0x80, 0x00, 0x00], [0x80, 0x80, 0x00, 0x00]),
    ],
)
def test_what_has_no_nearest_value_is_what_the_format_says(
    call: Call, value: float, held: list[int], free: list[int]
) -> None:
    narrow = np.zeros(8, np.uint8)
    given = np.array([value], np.float32)
    call("run_eights", np.zeros(256, np.uint8), np.zeros(1024, np.float32), given, narrow, 1)
    assert [*held, *free] == narrow.tolist()


def test_calls_of_the_runtime_and_arithmetic_of_vectors(call: Call) -> None:
    a, out = RANDOM.random((100, 4)).astype(np.float32) + 1, np.zeros((100, 4), np.float32)
    assert call("run_runtime", a, out, 100) == 0
    np.testing.assert_allclose(a * 2 + 1 - np.arange(4) / a, out, rtol=1e-5)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checked")
    return build(
        folder, MISTAKES.read_text(), *CHECKED_FLAGS, libraries=CHECKED_LIBRARIES, hip=True
    )


def error_of(built: Path, kernel: str) -> str:
    """What is said of the kernel's launch, in a library of its own."""
    copy = built.with_name(f"{kernel}.so")
    shutil.copy(built, copy)
    library = ctypes.CDLL(str(copy))
    emulation = Emulation.find(library)
    assert emulation is not None
    a, out = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    for place, array in enumerate((a, out), 1):
        emulation.give(place, array.ctypes.data, array.nbytes)
    library[f"run_{kernel}"](pointer(a), pointer(out))
    try:
        emulation.expect_no_error()
    except RuntimeError as error:
        return str(error)
    return ""


# Each run has test_nothing_is_said_of_a_kernel_without_a_mistake (test_checking.py).
@pytest.mark.exhaustive
def test_nothing_is_said_of_a_right_kernel_whose_accesses_are_looked_at(checked: Path) -> None:
    assert error_of(checked, "right") == ""


@pytest.mark.parametrize(
    ("kernel", "code", "said"),
    [
        ("no_barrier", "tile[threadIdx.x] =", "thread (64,0,0) of block (0,0,0) writes shared"),
        ("behind", "a[threadIdx.x + 1]", "thread (127,0,0) of block (0,0,0) reads 4 bytes outside"),
        ("freed", "own[threadIdx.x] =", "outside of all arrays"),
        ("left_alone", "__shfl_sync(", "waits at a barrier of its warp that others never reach"),
    ],
)
def test_a_mistake_is_found_with_its_thread_and_line(
    checked: Path, kernel: str, code: str, said: str
) -> None:
    start = next(i for i, line in enumerate(LINES) if f"void {kernel}(" in line)
    line = 1 + next(i for i in range(start, len(LINES)) if code in LINES[i])
    error = error_of(checked, kernel)
    assert error.startswith(f"submission.cu:{line}: thread (")
    assert said in error


@pytest.mark.exhaustive  # each run has test_a_mistake_is_found_with_its_thread_and_line
@pytest.mark.parametrize(
    ("text", "said"),
    few(
        [
            (
                (
                    "#include <hip/hip_runtime.h>\n__global__ void k(int *a) {\n"
                    "    a[0] = __shfl_sync(0xffffffff, a[0], 0);\n}\n"
                ),
                "submission.cu:3:",
            ),
            (
                "#define HEADER <hip/hip_runtime.h>\n#include HEADER\n",
                "HIP runs here only if its headers are named in an #include",
            ),
        ],
        1,
    ),
)
def test_what_hip_refuses_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        build(tmp_path, text, hip="HEADER" not in text)
    assert said in failed.value.stderr.decode()
