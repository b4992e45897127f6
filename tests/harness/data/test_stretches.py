"""Values in one piece of shared memory, which takes others after them."""

import contextlib
import os
from collections.abc import Iterator

import numpy as np
import pytest

from kernelbot.harness.data.encode import Encoded, encode
from kernelbot.harness.data.private_memory import read_at
from kernelbot.harness.data.stretches import SharedStretches

MIB = 1 << 20


@pytest.fixture
def stretches() -> Iterator[SharedStretches]:
    with contextlib.closing(SharedStretches()) as stretches:
        yield stretches


def value(byte: int, size_bytes: int) -> Encoded:
    return encode(np.full(size_bytes, byte, np.uint8), frozenset())


def test_other_values_take_the_same_memory_and_nothing_of_it_is_theirs(
    stretches: SharedStretches,
) -> None:
    with stretches.for_others(3):
        for byte in (1, 2, 3):
            stretches.add(value(byte, 5000))
        first = os.fstat(stretches.fd).st_ino
        assert ([0, 8192, 16384], 24576) == (stretches.begins, stretches.size_bytes)
    with stretches.for_others(2):
        stretches.add(value(4, 100))
        stretches.add(value(5, 5000))
        assert ([0, 4096], 12288) == (stretches.begins, stretches.size_bytes)
        assert first == os.fstat(stretches.fd).st_ino
        assert b"\4" * 100 == read_at(stretches.fd, 0, 100).read(0, 100)
        assert b"\5" * 5000 == read_at(stretches.fd, 4096, 5000).read(0, 5000)


def test_more_values_than_there_is_room_for_are_all_there(stretches: SharedStretches) -> None:
    with stretches.for_others(1):
        stretches.add(value(1, 10))
    with stretches.for_others(2):
        stretches.add(value(2, 3000))
        stretches.add(value(3, 9000))
        assert b"\2" * 3000 == read_at(stretches.fd, 0, 3000).read(0, 3000)
        assert b"\3" * 9000 == read_at(stretches.fd, 4096, 9000).read(0, 9000)


@pytest.mark.parametrize(("size_bytes", "is_kept"), [(15 * MIB, True), (17 * MIB, False)])
def test_much_memory_is_given_back(
    stretches: SharedStretches, size_bytes: int, *, is_kept: bool
) -> None:
    with stretches.for_others(1):
        stretches.add(value(1, size_bytes))
        mapped = f"/proc/self/fd/{stretches.fd}"
        inode = os.stat(mapped).st_ino  # noqa: PTH116 (a descriptor, not a path)
    with open("/proc/self/maps") as maps:  # noqa: PTH123 (read once)
        assert is_kept == any(line.split()[4] == str(inode) for line in maps)


@pytest.mark.parametrize("stretch", [(0, 8193), (8000, 193), (-1, 5), (5, -1), (0, 1 << 60)])
def test_what_a_file_does_not_have_cannot_be_read(
    stretches: SharedStretches, stretch: tuple[int, int]
) -> None:
    with stretches.for_others(1):
        stretches.add(value(1, 8192))
        assert b"\1" * 192 == read_at(stretches.fd, 8000, 192).read(0, 192)
        with pytest.raises(ValueError, match="outside of the file"):
            read_at(stretches.fd, *stretch)
