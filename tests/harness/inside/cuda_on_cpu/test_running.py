"""Kernels on the processor compute what they compute on a GPU."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation
from kernelbot.harness.inside.cuda_on_cpu.headers import FLAGS, FOLDER, header_files
from kernelbot.harness.inside.cuda_on_cpu.inline import cpu_flags
from kernelbot.harness.inside.cuda_on_cpu.rewriting import rewrite
from kernelbot.harness.inside.runner.kernels import CompiledKernel
from tests.support.exhaustive import cases

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed")
SOURCE = Path(__file__).with_name("kernels.cu")
Call = Callable[..., Any]


def build(
    folder: Path, text: str, *flags: str, libraries: Sequence[str] = (), hip: bool = False
) -> Path:
    """The shared object of a CUDA or HIP source, made outside of any sandbox."""
    for name, content in header_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "submission.cu").write_text(rewrite("submission.cu", text, hip=hip))
    own = (*cpu_flags((), hip=True), "-DCUDA_ON_CPU_HIP") if hip else FLAGS
    command = ["g++", *own, *flags, f"-I{FOLDER}", "-include", "cuda_on_cpu.h", "-x", "c++"]
    command += ["submission.cu", "-shared", "-fPIC", "-o", "kernel.so", "-x", "none", *libraries]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    return folder / "kernel.so"


@pytest.fixture(scope="module", params=cases(["switch", "ucontext"], always=["switch"]))
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    flags = ["-DCUDA_ON_CPU_UCONTEXT"] if request.param == "ucontext" else []
    return build(tmp_path_factory.mktemp("kernels"), SOURCE.read_text(), *flags)


@pytest.fixture(scope="module")
def call(built: Path) -> Iterator[Call]:
    library = ctypes.CDLL(str(built))

    def run(name: str, *given: Any) -> None:
        arrays = [
            ctypes.c_void_p(one.ctypes.data) if hasattr(one, "ctypes") else one for one in given
        ]
        library[name](*arrays)

    yield run
    emulation = Emulation.find(library)
    assert emulation is not None
    emulation.expect_no_error()


RANDOM = np.random.default_rng(1)


def test_each_thread_knows_its_index(call: Call) -> None:
    a, b = RANDOM.random((2, 1000), dtype=np.float32)
    out = np.zeros(1000, np.float32)
    call("run_add", a, b, out, 1000)
    np.testing.assert_array_equal(a + b, out)


def test_a_barrier_comes_between_shared_writes_and_reads(call: Call) -> None:
    a, out = np.arange(384, dtype=np.int32), np.zeros(384, np.int32)
    call("run_reverse", a, out, 3)
    np.testing.assert_array_equal(a.reshape(3, 128)[:, ::-1].ravel(), out)


def test_dynamic_shared_memory_in_two_dimensions(call: Call) -> None:
    a, out = RANDOM.random((40, 50), dtype=np.float32), np.zeros((50, 40), np.float32)
    call("run_transpose", a, out, 40, 50)
    np.testing.assert_array_equal(a.T, out)


def test_shuffles_add_up_a_block(call: Call) -> None:
    a, out = RANDOM.integers(-100, 100, 10_007, dtype=np.int32), np.zeros(1, np.int32)
    call("run_sum", a, out, a.size)
    assert a.sum() == out[0]


def test_votes_count_the_lanes_of_a_warp_or_a_block(call: Call) -> None:
    out = np.zeros((9, 64), np.int32)
    call("run_votes", out)
    lanes = np.arange(64)
    ballots = [sum(1 << i for i in range(32) if (first + i) % 3 == 0) for first in (0, 32)]
    matches = [sum(1 << i for i in range(32) if i % 4 == residue) for residue in range(4)]
    expected = [
        np.array(ballots, np.uint32).view(np.int32)[lanes // 32],
        lanes // 32,
        lanes < 32,
        np.full(64, 32),
        np.full(64, 1),
        np.array(matches, np.uint32).view(np.int32)[lanes % 4],
        np.where(lanes < 32, 31, 63),
        np.where(lanes % 8 > 0, lanes - 1, lanes),
        np.where(lanes < 16, 3, -1),
    ]
    np.testing.assert_array_equal(expected, out)


def test_who_has_ended_took_part_in_a_match(call: Call) -> None:
    out = np.zeros((4, 64), np.int32)
    call("run_matches", out)
    first_warp = np.arange(64) < 32
    np.testing.assert_array_equal([[-1] * 64, [1] * 64, -1 * first_warp, first_warp], out)


def test_sizes_of_shared_arrays_are_expressions(call: Call) -> None:
    out = np.zeros(64, np.int32)
    call("run_sized", out)
    np.testing.assert_array_equal([32 + 64 + 5] * 64, out)


def test_threads_of_the_host_launch_one_after_another(built: Path) -> None:
    copy = built.with_name("threads.so")
    shutil.copy(built, copy)
    library = ctypes.CDLL(str(copy))
    emulation = Emulation.find(library)
    assert emulation is not None
    a = np.arange(100_000, dtype=np.float32)

    def launch(_: int) -> bool:
        out = np.zeros_like(a)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, a, out)]
        library.run_add(*pointers, a.size)
        return bool((out == 2 * a).all())

    with ThreadPoolExecutor(2) as pool:
        assert [True] * 100 == list(pool.map(launch, range(100)))
    emulation.expect_no_error()


def test_groups_of_a_block_a_tile_and_the_threads_that_are_there(call: Call) -> None:
    out = np.zeros((3, 64), np.int32)
    call("run_groups", out)
    lanes = np.arange(64)
    tiles = lanes // 8
    sums = 8 * 8 * tiles + 28
    np.testing.assert_array_equal(sums, out[0])
    np.testing.assert_array_equal((tiles * 8 + 2) * 100 + tiles, out[1])
    assert 32 == out[2, 0]


def test_atomics_change_memory_one_after_another(call: Call) -> None:
    out, big = np.array([0, 0, 99, 0, 0, 0, 77, 0], np.uint32), np.zeros(1)
    call("run_atomics", out, big)
    assert [400, 99, 5, 0xFFFFFFFF, 0, 1, 0, 200, 100.0] == [*out.tolist(), big[0]]


def test_constant_memory_and_vector_types(call: Call) -> None:
    a, w = RANDOM.random((20, 4)).astype(np.float32), np.arange(4, dtype=np.float32)
    out = np.zeros(20, np.float32)
    call("run_weighted", a, w, out, 20)
    np.testing.assert_allclose(a @ w, out, rtol=1e-6)


def test_sixteen_bits_are_rounded_as_hardware_does(call: Call) -> None:
    every = np.arange(65536, dtype=np.uint16)
    product, wide = np.zeros(65536, np.float16), np.zeros(65536, np.float32)
    call("run_halves", every.view(np.float16), product, every, wide)
    a = every.view(np.float16).astype(np.float64)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal((a * a + 0.5).astype(np.float16), product)
    bits = every.view(np.float16).astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32)
    with np.errstate(all="ignore"):
        expected = rounded.view(np.float32) + (every.astype(np.uint32) << 16).view(np.float32)
    good = ~np.isnan(a) & ~np.isnan(expected)
    np.testing.assert_array_equal(expected[good], wide[good])


def test_intrinsics_of_bits(call: Call) -> None:
    a = np.array([0, 1, 0x80000000, 0xFFFFFFFF, 12345678], np.uint32)
    out = np.zeros((5, 4), np.int32)
    call("run_bits", a, out, 5)
    expected = [
        (f"{v:032b}".count("1"), 32 - int(v).bit_length(), int(f"{v:032b}"[::-1], 2), v * v >> 32)
        for v in a.tolist()
    ]
    np.testing.assert_array_equal(np.array(expected, np.uint32).view(np.int32), out)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (
            "run_left_alone",
            "submission.cu:137: thread (40,0,0) of block (0,0,0) waits at a barrier",
        ),
        ("run_launches", "a kernel launches a kernel: that needs a GPU."),
        ("run_too_many", "a block has from 1 to 1024 threads"),
    ],
)
def test_a_launch_that_fails_says_where_and_why(built: Path, function: str, said: str) -> None:
    copy = built.with_name(f"{function}.so")
    shutil.copy(built, copy)
    library = ctypes.CDLL(str(copy))
    out = np.zeros(64, np.int32)
    emulation = Emulation.find(library)
    assert emulation is not None
    library[function](ctypes.c_void_p(out.ctypes.data))
    with pytest.raises(RuntimeError) as failed:
        emulation.expect_no_error()
    assert said in str(failed.value)
    launched = function != "run_too_many"
    assert (719 if launched else 9) == library.last_error()
    assert launched or not out.any()


def test_only_a_library_that_is_said_to_be_emulated_is_asked_beside_calls(tmp_path: Path) -> None:
    (tmp_path / "kernel.cpp").write_text(
        'extern "C" { void custom_kernel() {} const char *cuda_on_cpu_error() { return "x"; } }'
    )
    command = ["g++", "-shared", "-fPIC", "kernel.cpp", "-o", "kernel.so"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    path = tmp_path / "kernel.so"
    asked = [CompiledKernel.load(path, (), emulates=said).emulation for said in (False, True)]
    assert [False, True] == [emulation is not None for emulation in asked]
