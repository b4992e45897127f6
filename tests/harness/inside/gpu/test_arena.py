"""Memory that the judge owns and others map: over the stand-in driver, in real processes."""

import ctypes
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelbot.harness.inside.gpu.arena import ALIGNMENT, Arena, ArenaPool, Chunk
from kernelbot.harness.inside.gpu.driver import DeviceFull, Driver, GpuError
from tests.support.cuda_driver import build_driver
from tests.support.exhaustive import examples

TOTAL_BYTES = 256 << 20


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_driver(tmp_path_factory.mktemp("driver"), total_bytes=TOTAL_BYTES))


@pytest.fixture
def driver(library: str) -> Driver:
    return Driver(library)


def content(driver: Driver, address: int, size_bytes: int) -> bytes:
    held = ctypes.create_string_buffer(size_bytes)
    driver.download(ctypes.addressof(held), address, size_bytes)
    return held.raw


def write(driver: Driver, address: int, data: bytes) -> None:
    held = ctypes.create_string_buffer(data)
    driver.upload(address, ctypes.addressof(held), len(data))
    driver.wait()


OTHER = """
import socket, sys
from kernelbot.harness.inside.gpu.arena import Arena
from kernelbot.harness.inside.gpu.driver import Driver
sock = socket.socket(fileno=int(sys.argv[2]))
_, (fd,), _, _ = socket.recv_fds(sock, 1, 1)
driver = Driver(sys.argv[1])
arena = Arena.attach(driver, fd, int(sys.argv[3]), views=2)
driver.copy(arena.addresses[1] + 8, arena.addresses[0], 8)
driver.wait()
sock.send(b".")
"""


@pytest.mark.exhaustive  # each run has test_an_old_driver_is_noticed
def test_another_process_writes_where_the_owner_reads(driver: Driver, library: str) -> None:
    arena = Arena.create(driver, 100)
    write(driver, arena.address, b"kernelbo")
    mine, theirs = socket.socketpair()
    with mine, theirs:
        arguments = [library, str(theirs.fileno()), str(arena.size_bytes)]
        other = subprocess.Popen(
            [sys.executable, "-c", OTHER, *arguments],
            pass_fds=(theirs.fileno(),),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        fd = arena.export()
        socket.send_fds(mine, [b"x"], [fd])
        os.close(fd)
        theirs.close()
        assert b"." == mine.recv(1)
        other.wait()
    assert b"kernelbokernelbo" == content(driver, arena.address, 16)
    arena.close()


def test_its_memory_is_free_once_it_is_closed(driver: Driver) -> None:
    before = driver.free_bytes()
    arena = Arena.create(driver, 1 << 20)
    held = driver.free_bytes()
    arena.close()
    arena.close()
    assert (1 << 20, before) == (before - held, driver.free_bytes())


@pytest.mark.parametrize("failing", [b"cuMemAddressReserve", b"cuMemMap", b"cuMemSetAccess"])
def test_what_cant_be_mapped_is_free_again(driver: Driver, library: str, failing: bytes) -> None:
    """Else whoever waits for room takes more with every look."""
    fake, before = ctypes.CDLL(library), driver.free_bytes()
    fake.fake_fail_in(failing, 2)
    try:
        with pytest.raises(DeviceFull):
            Arena.create(driver, 1 << 20)
    finally:
        fake.fake_fail_in(b"", 0)
    assert before == driver.free_bytes()


def test_it_leaves_no_descriptor_behind(driver: Driver) -> None:
    open_files = Path("/proc/self/fd")
    before = sorted(open_files.iterdir())
    arena = Arena.create(driver, 1)
    other = Arena.attach(driver, arena.export(), arena.size_bytes)
    other.close()
    arena.close()
    assert before == sorted(open_files.iterdir())


def test_a_device_that_is_full_says_so(driver: Driver) -> None:
    with pytest.raises(DeviceFull, match="CUDA_ERROR_OUT_OF_MEMORY: out of memory"):
        Arena.create(driver, TOTAL_BYTES + 1)


def test_an_old_driver_is_noticed(tmp_path: Path) -> None:
    driver = Driver(str(build_driver(tmp_path, virtual_memory=False)))
    assert not driver.has_virtual_memory()
    with pytest.raises(GpuError, match="no function cuMemGetAllocationGranularity"):
        Arena.create(driver, 1)


def test_an_address_is_found_only_if_all_of_it_lies_there(driver: Driver) -> None:
    arena = Arena.create(driver, 1)
    end = arena.address + arena.size_bytes
    found = [arena.offset_of(*place) for place in ((end - 8, 8), (end - 8, 9), (0, 8))]
    assert [arena.size_bytes - 8, None, None] == found
    arena.close()


def test_a_piece_is_free_once_nobody_has_it(driver: Driver) -> None:
    pool = ArenaPool(driver)
    first = pool.piece(100)
    second = pool.piece(100)
    place = first.address
    del first
    third = pool.piece(50)
    assert (place, place + ALIGNMENT) == (third.address, second.address)
    pool.close()


def test_a_pool_gives_up_what_is_too_small(driver: Driver) -> None:
    pool = ArenaPool(driver)
    small = pool.piece(1)
    number = small.chunk.number
    del small
    large = pool.piece(200 << 20)
    assert (0, 1) == (number, large.chunk.number)
    with pytest.raises(DeviceFull):
        pool.piece(100 << 20)
    pool.close()
    assert TOTAL_BYTES == driver.free_bytes()


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.integers(1, 40), max_size=20), st.randoms(use_true_random=False))
def test_stretches_never_overlap_and_all_come_back(sizes: list[int], source: object) -> None:
    arena = Arena.__new__(Arena)
    arena.size_bytes = 256
    chunk = Chunk(0, arena, [(0, 256)])
    taken: list[tuple[int, int]] = []
    for size in sizes:
        offset = chunk.take(size)
        if offset is not None:
            assert all(offset + size <= o or o + s <= offset for o, s in taken)
            taken.append((offset, size))
        if taken and source.random() < 0.4:  # type: ignore[attr-defined]
            chunk.give_back(*taken.pop(source.randrange(len(taken))))  # type: ignore[attr-defined]
    for stretch in taken:
        chunk.give_back(*stretch)
    assert chunk.is_empty
