"""Mistakes that a run without `--check` may survive, each with its thread, block and line."""

import ctypes
import resource
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation
from kernelbot.harness.inside.cuda_on_cpu.headers import CHECKED_FLAGS, CHECKED_LIBRARIES
from tests.harness.inside.cuda_on_cpu.test_running import build

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed")
SOURCE = Path(__file__).with_name("checked.cu")
LINES = SOURCE.read_text().splitlines()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checked")
    return build(folder, SOURCE.read_text(), *CHECKED_FLAGS, libraries=CHECKED_LIBRARIES)


def error_of(built: Path, kernel: str) -> str:
    """What is said of the kernel's launch, in a library of its own."""
    copy = built.with_name(f"{kernel}.so")
    shutil.copy(built, copy)
    library = ctypes.CDLL(str(copy))
    emulation = Emulation.find(library)
    assert emulation is not None
    a, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, out)]
    for place, array in enumerate((a, out), 1):
        emulation.give(place, array.ctypes.data, array.nbytes)
    library[f"run_{kernel}"](*pointers)
    try:
        emulation.expect_no_error()
    except RuntimeError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "kernel",
    [
        "reverse",
        "sum",
        "histogram",
        "more_arrays",
        "warp_in_step",
        "two_buffers",
        "less_aligned",
        "managed",
        "copies_right",
        "parts_of_work",
    ],
)
def test_nothing_is_said_of_a_kernel_without_a_mistake(built: Path, kernel: str) -> None:
    assert error_of(built, kernel) == ""


def test_an_array_may_lie_where_another_arguments_lay_before(built: Path, tmp_path: Path) -> None:
    copy = shutil.copy(built, tmp_path / "given_again.so")
    library = ctypes.CDLL(str(copy))
    emulation = Emulation.find(library)
    assert emulation is not None
    arrays = np.zeros((6, 64), np.int32)
    for given, size_bytes in (((0, 1, 2, 3), 8), ((2, 4, 5), arrays[0].nbytes)):
        for place, at in enumerate(given, 1):
            emulation.give(place, arrays[at].ctypes.data, size_bytes)
    library.run_reverse(*(ctypes.c_void_p(arrays[at].ctypes.data) for at in (2, 4)))
    emulation.expect_no_error()


@pytest.mark.exhaustive  # each run has test_nothing_is_said_of_a_kernel_without_a_mistake
def test_what_another_thread_of_the_host_does_meanwhile_is_not_the_kernels(built: Path) -> None:
    library = ctypes.CDLL(str(built))
    emulation = Emulation.find(library)
    assert emulation is not None
    arrays = np.zeros((2, 64), np.int32)
    for place, array in enumerate(arrays, 1):
        emulation.give(place, array.ctypes.data, array.nbytes)

    def launch(_: int) -> None:
        library.run_reverse(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(launch, range(5000)))
    emulation.expect_no_error()


@pytest.mark.exhaustive  # each run has test_nothing_is_said_of_a_kernel_without_a_mistake
def test_each_launch_takes_the_same_memory_for_its_records(built: Path) -> None:
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert error_of(built, "many") == ""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 200 << 10


@pytest.mark.parametrize(
    ("kernel", "code", "said"),
    [
        (
            "no_barrier",
            "tile[threadIdx.x] = a[threadIdx.x];",
            (
                "thread (32,0,0) of block (0,0,0) writes shared memory `tile` that thread (31,0,0) "
                "reads in submission.cu:{next}, with no barrier"
            ),
        ),
        ("no_warp_barrier", "tile[threadIdx.x ^ 1]", "thread (1,0,0) of block (0,0,0) reads"),
        ("two_values", "last = threadIdx.x;", "writes shared memory `last` that thread (0,0,0)"),
        ("plain_beside_atomic", "atomicAdd(&count", "thread (1,0,0) of block (0,0,0) writes"),
        (
            "reads_behind",
            "a[threadIdx.x + 1];",
            (
                "thread (63,0,0) of block (0,0,0) reads 4 bytes outside of all arrays, right "
                "behind the end of `argument 1`"
            ),
        ),
        ("writes_before", "out[int(threadIdx.x) - 1]", "4 bytes before the beginning"),
        ("reads_wide", "(a)[threadIdx.x];", "thread (16,0,0) of block (0,0,0) reads"),
        ("shared_behind", "tile[threadIdx.x + 1]", "right behind the end of `tile`"),
        ("dynamic_behind", "tile[threadIdx.x + 1]", "the end of `dynamic shared memory`"),
        ("freed", "void freed(", "outside of all arrays"),
        (
            "ended_early",
            "__syncthreads();",
            "thread (5,0,0) of block (0,0,0) has ended before this barrier of its block.",
        ),
        (
            "misaligned",
            "(a + threadIdx.x)",
            "uses 'const struct int4' at an address that 16 bytes don't divide.",
        ),
        ("shifts", "1u <<", "thread (0,0,0) of block (0,0,0) shifts 'unsigned int' by -8 bits"),
        (
            "converts",
            "int(a",
            "thread (22,0,0) of block (0,0,0) converts a 'float' that doesn't fit",
        ),
        ("divides", "7 / ", "thread (3,0,0) of block (0,0,0) divides by 0."),
        ("copies_behind", "memcpy(", "thread (63,0,0) of block (0,0,0) reads 8 bytes outside"),
        ("fills_behind", "memset(", "writes 16 bytes outside of all arrays, right behind the end"),
        (
            "copies_unordered",
            "memcpy(rows[threadIdx.x], a",
            "thread (1,0,0) of block (0,0,0) writes shared memory `rows` that thread (0,0,0) reads",
        ),
        (
            "two_places",
            "of the even ones",
            "waits at a barrier of its block while thread (1,0,0) of its warp waits at the one in ",
        ),
    ],
)
def test_a_mistake_is_found_with_its_thread_and_line(
    built: Path, kernel: str, code: str, said: str
) -> None:
    start = next(i for i, line in enumerate(LINES) if f"void {kernel}(" in line)
    line = 1 + next(i for i in range(start, len(LINES)) if code in LINES[i])
    error = error_of(built, kernel)
    assert error.startswith(f"submission.cu:{line}: thread (")
    assert said.format(next=line + 1) in error


def test_memory_of_the_gpu_that_the_host_reads_is_found(built: Path) -> None:
    line = 1 + next(i for i, text in enumerate(LINES) if "first += a[1]" in text)
    said = f"submission.cu:{line}: the host function reads `argument 1`, which is memory of the GPU"
    assert error_of(built, "read_by_host").startswith(said)


@pytest.mark.exhaustive  # each run has test_nothing_is_said_of_a_kernel_without_a_mistake
def test_a_clean_file_is_compiled_without_a_word_about_our_header(tmp_path: Path) -> None:
    flags = (*CHECKED_FLAGS, "-Werror")
    text = (
        "__global__ void one(float *out) { out[threadIdx.x] = 1; }\n"
        'extern "C" void custom_kernel(float *out) { one<<<1, 32>>>(out); }\n'
    )
    assert build(tmp_path, text, *flags, libraries=CHECKED_LIBRARIES).exists()
