"""CUB's algorithms of a block and a warp, on the processor."""

import ctypes
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation
from kernelbot.harness.inside.cuda_on_cpu.headers import CHECKED_FLAGS, CHECKED_LIBRARIES
from tests.harness.inside.cuda_on_cpu.test_running import build

# Each run has test_each_thread_knows_its_index (test_running.py) and mistakes (test_faults.py)
pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed"),
    pytest.mark.exhaustive,
]
SOURCE = Path(__file__).with_name("cub.cu")
THREADS = 96
RANDOM = np.random.default_rng(2)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cub")
    return build(folder, SOURCE.read_text(), *CHECKED_FLAGS, libraries=CHECKED_LIBRARIES)


def error_of(built: Path, name: str, *arrays: Any) -> str:
    """What is said of the kernel's launch, with each access looked at."""
    copy = built.with_name(f"{name}.so")
    shutil.copy(built, copy)
    library = ctypes.CDLL(str(copy))
    emulation = Emulation.find(library)
    assert emulation is not None
    for place, array in enumerate(arrays, 1):
        emulation.give(place, array.ctypes.data, array.nbytes)
    library[name](*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    try:
        emulation.expect_no_error()
    except RuntimeError as error:
        return str(error)
    return ""


def test_a_block_is_reduced(built: Path) -> None:
    a, out = RANDOM.integers(-9, 9, THREADS).astype(np.float32), np.zeros(3, np.float32)
    assert error_of(built, "run_reduce", a, out) == ""
    np.testing.assert_array_equal([a.sum(), a.max(), a[:10].sum()], out)


def test_values_of_several_words_are_reduced(built: Path) -> None:
    a, out = RANDOM.random(THREADS, dtype=np.float32), np.zeros(1, np.int32)
    assert error_of(built, "run_best", a, out) == ""
    assert a.argmax() == out[0]


def test_a_block_is_loaded_scanned_and_stored(built: Path) -> None:
    count = 3 * THREADS
    a, out = RANDOM.integers(-9, 9, count, dtype=np.int32), np.zeros(2 * count + 97, np.int32)
    assert error_of(built, "run_scan", a, out) == ""
    items = np.where(np.arange(count) < count - 5, a, -1)
    upto = np.cumsum(items)
    most = np.maximum.accumulate(np.append(-1, a[: THREADS - 1]))
    np.testing.assert_array_equal(np.concatenate([upto - items, upto, most, upto[-1:]]), out)


def test_parts_of_a_warp_are_reduced_and_warps_scanned(built: Path) -> None:
    a, out = RANDOM.integers(-9, 9, THREADS, dtype=np.int32), np.zeros(3 * THREADS, np.int32)
    assert error_of(built, "run_warps", a, out) == ""
    upto = np.cumsum(a.reshape(3, 32), axis=1).ravel()
    np.testing.assert_array_equal(a.reshape(6, 16).sum(axis=1), out[:6])
    np.testing.assert_array_equal([upto - a, upto], out[THREADS:].reshape(2, THREADS))


def test_a_storage_that_is_used_again_without_a_barrier_is_noticed(built: Path) -> None:
    a, out = RANDOM.random(THREADS, dtype=np.float32), np.zeros(2, np.float32)
    said = error_of(built, "run_reused", a, out)
    assert "shared memory `temp` that thread" in said
    assert "with no barrier between them" in said
