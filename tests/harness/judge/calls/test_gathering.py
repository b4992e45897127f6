"""Arrays with gaps, read out of a process's memory."""

import ctypes
import itertools
import mmap
import os
from typing import Any

import numpy as np
import pytest

from kernelbot.harness.data.elements import BLOCK_BYTES, MemoryRange, lying_at
from kernelbot.harness.judge.calls.gathering import _together, gather

PAGE = 4096
NUMBERS = np.random.default_rng(1).random((40, 50, 6))


def gathered(view: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    lies = lying_at(0, view.shape, view.strides, view.itemsize)
    memory = np.empty(view.nbytes, np.uint8)
    gather(os.getpid(), view.ctypes.data, lies, memory.ctypes.data)
    steps = [stride * view.itemsize for stride in lies.copy_strides()]
    return np.ndarray(view.shape, view.dtype, memory, 0, steps)


@pytest.mark.parametrize(
    "view",
    [
        NUMBERS,
        NUMBERS[::2],
        NUMBERS[:, ::-1],
        NUMBERS[::-3, 1:-1:5, ::-1].transpose(2, 0, 1),
        NUMBERS.view(np.uint8)[..., 3:17:7],
        NUMBERS.view(np.complex128)[:, 3].imag,
        np.arange(3 * BLOCK_BYTES, dtype=np.uint8)[::-2],
        np.arange(900 * 2 * PAGE, dtype=np.uint8).reshape(900, -1)[::-1, 5:9],
        np.zeros(9, [("key", "i4"), ("value", "f8")])["value"],
    ],
)
def test_all_elements_are_read_in_their_places(view: np.ndarray[Any, Any]) -> None:
    assert view.tolist() == gathered(view).tolist()


def test_between_elements_there_may_be_no_memory() -> None:
    memory = mmap.mmap(-1, 5 * PAGE)
    pages = np.frombuffer(memory, np.uint8).reshape(5, PAGE)
    pages[:] = np.arange(5)[:, None]
    first, protect = pages.ctypes.data, ctypes.CDLL(None).mprotect
    for page in (1, 3):
        assert 0 == protect(ctypes.c_void_p(first + page * PAGE), ctypes.c_size_t(PAGE), 0)
    assert [[4] * 100, [2] * 100, [0] * 100] == gathered(pages[::-2, :100]).tolist()


@pytest.mark.parametrize(
    ("sizes", "together"),
    [
        ([BLOCK_BYTES // 2] * 4 + [1], [2, 2, 1]),
        ([BLOCK_BYTES, BLOCK_BYTES - 1, 1, 1], [1, 2, 1]),
        ([1] * 2049, [1024, 1024, 1]),
        ([], []),
    ],
)
def test_as_many_pieces_are_read_together_as_a_block_has_room_for(
    sizes: list[int], together: list[int]
) -> None:
    pieces = [MemoryRange(0, size, 0, ()) for size in sizes]
    found = list(_together(pieces))
    assert (together, pieces) == ([len(some) for some in found], [*itertools.chain(*found)])


def test_what_isnt_there_is_an_error() -> None:
    lies = lying_at(0, (3,), (-PAGE,), 1)
    target = np.empty(3, np.uint8)
    with pytest.raises(OSError, match=r"Bad address|nothing there"):
        gather(os.getpid(), 2 * PAGE, lies, target.ctypes.data)
