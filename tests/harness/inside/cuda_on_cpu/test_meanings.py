"""Where C++ on a processor means another thing than CUDA on a GPU, kernels have CUDA's meaning."""

import ctypes
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation
from tests.harness.inside.cuda_on_cpu.test_running import build
from tests.support.exhaustive import cases

# Each run has test_each_thread_knows_its_index (test_running.py) and mistakes (test_faults.py)
pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed"),
    pytest.mark.exhaustive,
]
SOURCE = Path(__file__).with_name("meanings.cu")
LOWEST, GARBAGE = -(2**31), np.float32(3.3961514e38)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("meanings"), SOURCE.read_text())


def run(built: Path, name: str, *arrays: Any) -> str:
    """What is said of a launch, in a library of its own; empty if nothing was wrong."""
    copy = built.with_name(f"{name}.so")
    copy.unlink(missing_ok=True)  # another file than one that is loaded
    shutil.copy(built, copy)
    library = ctypes.CDLL(str(copy))
    emulation = Emulation.find(library)
    assert emulation is not None
    library[f"run_{name}"](*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    try:
        emulation.expect_no_error()
    except RuntimeError as error:
        return str(error)
    return ""


def test_functions_of_floats(built: Path) -> None:
    root, square = 1 + 2**-12, 1 + 2**-11  # but for 2**-24, which has no room
    a = np.array([-0.5, np.nan, 1.5e38, 100000.5, np.inf, root, square], np.float32)
    out = np.zeros(11, np.float32)
    assert run(built, "floats", a, out) == ""
    expected = [0.5, 1, 1, 2, np.nan, 0, 1, 3, 2.0**-24, 0, 0]
    np.testing.assert_array_equal(np.array(expected, np.float32), out)


def test_conversions_to_and_from_integers(built: Path) -> None:
    out = np.zeros(14, np.int64)
    assert run(built, "integers", np.array([np.nan, 1e30, 2.5]), out) == ""
    from_nan = [0, LOWEST, -(2**63)]
    saturated = [2**31 - 1, 0, 2**63 - 1]
    rounded = [2, 3, 16777218, 16777220, -16777218]
    products = [(128 + 255 + 1 + 255) * 2 + 1, (-128 - 1 + 1 - 1) * 2 + 1, 639 * 2 + 1]
    assert [*from_nan, *saturated, *rounded, *products] == out.tolist()


def test_sixteen_bits_are_rounded_once(built: Path) -> None:
    out = np.zeros(3, np.uint16)
    a = np.array([1 + 2**-11 + 2**-40, 1 + 2**-8 + 2**-40])
    assert run(built, "sixteen", a, out) == ""
    assert [0x3C01, 0x3F81, 2] == out.tolist()


def nearest(exact: Fraction, bits: int) -> float:
    """Rounded to so many bits, for a size from 0.001 to 1000."""
    size, scale = abs(exact), Fraction(1)
    while size * scale >= 2**bits:
        scale /= 2
    while size * scale < 2 ** (bits - 1):
        scale *= 2
    return float(round(exact * scale) / scale)


def test_a_fused_multiplication_is_rounded_once(built: Path) -> None:
    random = np.random.default_rng(1)
    count = 64 * 256
    a = random.uniform(0.5, 2, (count, 3)).astype(np.float16)
    a[:, 2] *= 2.0 ** random.integers(-7, 7, count)
    wide = a.astype(np.float32).view(np.uint32) & 0xFFFF0000
    b = (wide >> 16).astype(np.uint16)
    out, bout = np.zeros(count, np.float16), np.zeros(count, np.uint16)
    assert run(built, "fused", a, out, b, bout) == ""
    for given, got, bits in (
        (a.astype(float), out.astype(float), 11),
        (wide.view(np.float32).astype(float), (bout.astype(np.uint32) << 16).view(np.float32), 8),
    ):
        expected = [nearest(Fraction(x) * Fraction(y) + Fraction(z), bits) for x, y, z in given]
        np.testing.assert_array_equal(expected, got)


def test_lanes_that_are_active_are_those_of_the_branch(built: Path) -> None:
    out = np.full(65, -1, np.int32)
    out[0] = 0
    assert run(built, "counted_together", out) == ""
    threads = [i for i in range(64) if i % 32 % 3 == 1]
    assert [len(threads), *threads] == [out[0], *sorted(out[1 : 1 + len(threads)].tolist())]


def test_a_tile_of_a_tile_has_its_rank_there(built: Path) -> None:
    out = np.zeros(128, np.int32)
    assert run(built, "tiles", out) == ""
    lanes = np.arange(64)
    warps, parts = lanes // 32 * 100 + 2, lanes % 32 // 8 * 100 + 4
    np.testing.assert_array_equal(warps * 10000 + parts, out[:64])
    np.testing.assert_array_equal(lanes % 2 * 16, out[64:])


def test_shared_memory_that_nobody_has_written_shows(built: Path) -> None:
    out = np.zeros((4, 2), np.float32)
    assert run(built, "unwritten", out) == ""
    np.testing.assert_array_equal([[GARBAGE] * 2, [np.nan] * 2] * 2, out)


def test_a_shuffle_from_a_lane_that_is_not_there_gives_no_lanes_value(built: Path) -> None:
    out = np.zeros(48, np.float32)
    assert run(built, "from_nobody", out) == ""
    np.testing.assert_array_equal([16 + i % 16 for i in range(32)] + [GARBAGE] * 16, out)


@pytest.mark.parametrize("name", ["full", "asked", "within_bounds"])
def test_a_launch_that_a_gpu_takes_is_taken(built: Path, name: str) -> None:
    assert run(built, name, np.zeros(64, np.int32)) == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "different",
            "thread (0,0,0) of block (0,0,0) waits at a barrier of its warp while thread",
        ),
        (
            "different_for_block",
            "thread (0,0,0) of block (0,0,0) waits at a barrier of its block while thread (32,0,0)",
        ),
        ("not_asked", "more than 49152 bytes of shared memory only if the host asks for it"),
        ("not_so_much", "more than 49152 bytes of shared memory only if the host asks for it"),
        ("fixed_beside_dynamic", "only if the host asks for it. Call cudaFuncSetAttribute("),
        ("too_large", "more than 49152 bytes of static shared memory"),
        (
            "out_of_bounds",
            "blocks of 64 threads, and the kernel's __launch_bounds__ allows 32",
        ),
        ("long_copy", "a copy of 51 bytes begins 50 bytes before the end of memory of cudaMalloc"),
        (
            "wrong_way",
            "said to be from or to the host, and that side of it is memory of cudaMalloc",
        ),
        ("long_rows", "a copy of 8 bytes begins 4 bytes before the end of memory of cudaMalloc"),
        ("wide_rows", "rows of a copy are longer than their distance"),
        ("long_memset", "a memset of 101 bytes begins 100 bytes before the end of memory of"),
        ("long_for_symbol", "12 bytes at the offset 0 don't fit into a symbol of 8 bytes"),
    ],
)
def test_what_a_gpu_refuses_is_refused(built: Path, name: str, said: str) -> None:
    out = np.zeros(64, np.int32)
    assert said in run(built, name, out)


def test_calls_of_the_runtime_say_what_they_refuse(built: Path) -> None:
    out = np.full(64, -1, np.int32)
    run(built, "long_copy", out)
    assert [0, 1, 1, 1] == out[:4].tolist()


@pytest.mark.parametrize(
    "wrong",
    cases(
        [
            "atomicAdd(reinterpret_cast<long long *>(p), 1ll)",
            "atomicMax(reinterpret_cast<float *>(p), 1.0f)",
            "atomicSub(reinterpret_cast<float *>(p), 1.0f)",
            "atomicInc(p, 3)",
            "atomicCAS(reinterpret_cast<float *>(p), 1.0f, 2.0f)",
            "__reduce_add_sync(~0u, 1.0f)",
        ],
        always=["atomicInc(p, 3)"],
    ),
)
def test_what_cuda_has_for_no_such_type_is_not_compiled(tmp_path: Path, wrong: str) -> None:
    right = "atomicAdd(reinterpret_cast<__half2 *>(p), __half2(1, 1));"
    source = "__global__ void k(int *p) {{\n{}\n}}"
    with pytest.raises(subprocess.CalledProcessError) as failed:
        build(tmp_path, source.format(f"{right}\n{wrong};"))
    errors = [line for line in failed.value.stderr.decode().splitlines() if "error:" in line]
    assert [True] == [line.startswith("submission.cu:3:") for line in errors]
