"""Timing a call on a GPU: what is waited for, flushed, read and noticed. The driver is a fake."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernelbot.harness.inside.gpu.driver import GpuError
from kernelbot.harness.inside.gpu.timing import FLUSHES, CudaGpu
from tests.support.cuda_driver import CACHE_BYTES, build_driver

WORK_NS = 5_000_000


@pytest.fixture
def driver(tmp_path: Path) -> Any:
    """Its `fake_*` functions; a library of its own for every test, since it keeps state."""
    library = ctypes.CDLL(str(build_driver(tmp_path)))
    library.fake_submit.argtypes = library.fake_stretch_events.argtypes = (ctypes.c_int64,)
    library.fake_flushed_bytes.restype = ctypes.c_size_t
    return library


@pytest.fixture
def gpu(driver: Any) -> CudaGpu:
    return CudaGpu(driver._name)


def time_of(gpu: CudaGpu, function: Callable[[], Any], *, cold: bool = False) -> int:
    return gpu.timed(function, (), cold=cold)[1]


def test_the_result_is_handed_through(gpu: CudaGpu) -> None:
    assert gpu.timed(lambda a, b: a + b, (1, 2), cold=False)[0] == 3


def test_work_that_still_runs_at_return_counts(gpu: CudaGpu, driver: Any) -> None:
    assert time_of(gpu, lambda: driver.fake_submit(WORK_NS)) >= WORK_NS


def test_leaving_the_context_hides_no_work(gpu: CudaGpu, driver: Any) -> None:
    def hide() -> None:
        driver.fake_submit(WORK_NS)
        driver.fake_leave_context()

    assert time_of(gpu, hide) >= WORK_NS


def test_work_from_before_is_not_the_calls(gpu: CudaGpu, driver: Any) -> None:
    driver.fake_submit(WORK_NS)
    assert time_of(gpu, lambda: None) < WORK_NS / 2


def test_the_larger_of_two_clocks_counts(gpu: CudaGpu, driver: Any) -> None:
    driver.fake_stretch_events(WORK_NS)
    longer = time_of(gpu, lambda: None)
    driver.fake_stretch_events(-WORK_NS)
    host = time_of(gpu, lambda: driver.fake_submit(WORK_NS))
    assert (True, True) == (longer >= WORK_NS, host >= WORK_NS)


@pytest.mark.parametrize("length_us", [5, 20, 100])
def test_a_kernel_of_known_length_reads_so_beside_its_launch(driver: Any, length_us: int) -> None:
    """By clocks that go on only with the driver's calls, each time after another process's work:
    the switch from its context to ours is nobody's."""
    driver.fake_launch.argtypes = (ctypes.c_void_p, ctypes.c_int64)
    driver.fake_virtual_clock.argtypes = driver.fake_launching_takes.argtypes = (ctypes.c_int64,)
    driver.fake_now.restype = ctypes.c_int64
    driver.fake_virtual_clock(200)
    gpu = CudaGpu(driver._name, clock=driver.fake_now)
    driver.fake_launching_takes(4_000)
    assert gpu.nothing is not None
    driver.fake_work_elsewhere()
    launching_ns = time_of(gpu, gpu.nothing)
    driver.fake_work_elsewhere()
    took_ns = time_of(gpu, lambda: driver.fake_launch(None, length_us * 1000))
    allowed_ns = 1_000 + 0.01 * length_us * 1000
    assert abs(took_ns - launching_ns - length_us * 1000) <= allowed_ns
    assert launching_ns >= 4_000


def test_what_is_submitted_later_can_be_added(gpu: CudaGpu, driver: Any) -> None:
    first = time_of(gpu, lambda: None)
    driver.fake_submit(WORK_NS)
    assert gpu.until_now_ns() >= first + WORK_NS


def test_a_flush_writes_twice_the_cache_and_only_for_cold_calls(gpu: CudaGpu, driver: Any) -> None:
    time_of(gpu, lambda: None)
    warm = driver.fake_flushed_bytes()
    time_of(gpu, lambda: None, cold=True)
    assert (0, FLUSHES * CACHE_BYTES) == (warm, driver.fake_flushed_bytes())


def test_a_flush_takes_away_what_was_to_persist(gpu: CudaGpu, driver: Any) -> None:
    time_of(gpu, driver.fake_persist)
    kept = driver.fake_persists()
    time_of(gpu, lambda: None, cold=True)
    assert (1, 0) == (kept, driver.fake_persists())


def test_older_gpus_that_can_not_persist_are_flushed_too(gpu: CudaGpu, driver: Any) -> None:
    driver.fake_without_persistence()
    time_of(gpu, lambda: None, cold=True)
    assert driver.fake_flushed_bytes() == FLUSHES * CACHE_BYTES


def test_memory_is_read_as_it_is(gpu: CudaGpu) -> None:
    there, here = ctypes.create_string_buffer(b"abc"), ctypes.create_string_buffer(4)
    gpu.read(ctypes.addressof(here), ctypes.addressof(there), 3)
    assert here.raw == b"abc\0"


def test_a_failing_kernel_is_reported_with_the_drivers_message(gpu: CudaGpu, driver: Any) -> None:
    healthy = gpu.fault()
    with pytest.raises(GpuError, match="CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access"):
        time_of(gpu, driver.fake_fail)
    assert (0, 700) == (healthy, gpu.fault())


def test_without_a_driver_it_says_so() -> None:
    with pytest.raises(GpuError, match=r"driver can't be loaded: libno_such\.so"):
        CudaGpu("libno_such.so")
