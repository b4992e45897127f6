"""Where a call's data lies on a GPU, and which part is there when: the driver is a stand-in."""

import ctypes
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelbot.harness.gpu.device_data import DeviceData
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.gpu.arena import ArenaPool
from kernelbot.harness.inside.gpu.driver import Driver
from kernelbot.harness.inside.gpu.timing import Flusher
from kernelbot.harness.judge.calls.input_arenas import InputArenas
from tests.support.cuda_driver import build_driver
from tests.support.exhaustive import examples

MOST_LATE_BYTES = 4 * 4096


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> JudgeDevice:
    library = build_driver(tmp_path_factory.mktemp("driver"), total_bytes=256 << 20)
    driver = Driver(str(library))
    return JudgeDevice(driver, ArenaPool(driver), Flusher(driver, 1))


def of_size(device: JudgeDevice, size_bytes: int) -> DeviceData:
    """All of it is ones."""
    piece = device.pool.piece(size_bytes)
    device.driver.fill(piece.address, 1, size_bytes)
    return DeviceData(None, (), 0, device=device, piece=piece)


def missing_bytes(device: JudgeDevice, arenas: InputArenas, size_bytes: int) -> int:
    device.driver.wait()
    content = ctypes.string_at(arenas.current.address, size_bytes)
    return size_bytes - content.count(1)


@pytest.mark.exhaustive  # each run has test_where_memory_is_scarce_there_is_one
@settings(max_examples=examples(30), deadline=None)
@given(size_bytes=st.integers(1, 1 << 21))
def test_some_of_a_cold_calls_data_is_missing_until_the_end(
    device: JudgeDevice, size_bytes: int
) -> None:
    arenas, data = InputArenas(device), of_size(device, size_bytes)
    arenas.provide(size_bytes)
    arenas.begin_to_fill(data, cold=True)
    before = missing_bytes(device, arenas, size_bytes)
    arenas.begin_to_complete(data)
    assert 0 < before <= MOST_LATE_BYTES
    assert 0 == missing_bytes(device, arenas, size_bytes)
    arenas.close()


def test_the_places_are_others_in_each_call(device: JudgeDevice) -> None:
    arenas, data = InputArenas(device), of_size(device, 1 << 20)
    arenas.provide(1 << 20)
    seen = set()
    for _ in range(10):
        arenas.begin_to_fill(data, cold=True)
        device.driver.wait()
        seen.add(ctypes.string_at(arenas.current.address, 1 << 20))
    assert len(seen) > 1
    arenas.close()


def test_what_another_call_left_is_overwritten(device: JudgeDevice) -> None:
    arenas, data = InputArenas(device), of_size(device, 1000)
    arenas.provide(1000)
    arenas.begin_to_fill(data, cold=False)
    arenas.begin_to_complete(data)
    left = arenas.current
    arenas.turn()
    arenas.begin_to_fill(data, cold=False)
    device.driver.wait()
    assert (True, 0) == (left is not arenas.current, ctypes.string_at(left.address, 1000).count(1))
    arenas.close()


def test_where_memory_is_scarce_there_is_one(tmp_path: Path) -> None:
    driver = Driver(str(build_driver(tmp_path, total_bytes=16 << 20)))
    arenas = InputArenas(JudgeDevice(driver, ArenaPool(driver), Flusher(driver, 1)))
    assert [2, 0, 1] == [len(arenas.provide(size)) for size in (1 << 16, 1000, 2 << 20)]
    first = arenas.current
    arenas.turn()
    assert first is arenas.current
    arenas.close()
