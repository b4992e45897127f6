"""Where the elements of arrays with gaps lie, and the pieces in which they are read."""

import contextlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.data.elements import (
    BLOCK_BYTES,
    MAX_PIECES,
    MOST_PIECES,
    MOST_READ_BYTES,
    Elements,
    can_be_read,
    elements_of,
    expect_quick_to_read,
    lying_at,
)

PAGE = 4096


def elements(array: np.ndarray[Any, Any]) -> Elements:
    return lying_at(0, array.shape, array.strides, array.itemsize)


@st.composite
def views(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    """Slices of arrays, some reversed and transposed, with at least one element."""
    shape = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    dtype = draw(st.sampled_from(["i1", "f4", "c16"]))
    whole = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    steps = [draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in shape]
    view = whole[tuple(slice(None, None, step) for step in steps)]
    return view.transpose(draw(st.permutations(range(view.ndim))))


@given(views())
def test_pieces_hold_each_element_once(view: np.ndarray[Any, Any]) -> None:
    lies, seen = elements(view), []
    for piece in lies.pieces():
        last = sum((axis.size - 1) * axis.step for axis in piece.axes)
        assert piece.size_bytes == last + lies.item_bytes
        for places in np.ndindex(*(axis.size for axis in piece.axes)):
            pairs = list(zip(places, piece.axes, strict=True))
            there = piece.offset + sum(place * axis.step for place, axis in pairs)
            copied = piece.copy_offset + sum(place * axis.copy_step for place, axis in pairs)
            seen.append((lies.low + there, copied))
    steps = [stride * view.itemsize for stride in lies.copy_strides()]
    expected = [
        (np.dot(place, view.strides), np.dot(place, steps)) for place in np.ndindex(view.shape)
    ]
    assert sorted(expected) == sorted(seen)
    assert sorted(copied for _, copied in seen) == list(range(0, view.nbytes, view.itemsize))


@given(views())
def test_a_copy_keeps_the_order_of_axes_in_memory(view: np.ndarray[Any, Any]) -> None:
    lies = elements(view)
    copied = lies.copy_strides()
    used = [axis for axis, size in enumerate(view.shape) if size > 1]
    in_memory = sorted(used, key=lambda axis: abs(view.strides[axis]))
    assert in_memory == sorted(used, key=lambda axis: copied[axis])
    assert len(list(lies.pieces())) == lies.count_pieces()
    assert sum(piece.size_bytes for piece in lies.pieces()) == lies.read_bytes


@pytest.mark.parametrize(
    ("view", "pieces"),
    [
        (np.zeros((100, 100))[:, :10], 1),
        (np.zeros((50, 2 * PAGE), "u1")[:, :10], 50),
        (np.zeros((50, PAGE + 9), "u1")[:, :10], 1),
        (np.zeros((50, PAGE + 10), "u1")[:, :10], 50),
        (np.zeros(3 * BLOCK_BYTES, "u1")[::2], 3),
        (np.zeros((3, BLOCK_BYTES), "u1")[::-1], 3),
    ],
)
def test_what_lies_far_apart_is_read_in_pieces(view: np.ndarray[Any, Any], pieces: int) -> None:
    """At most a block at once, and no page without an element, of which there may be none."""
    lies = elements(view)
    assert pieces == lies.count_pieces() == len(list(lies.pieces()))
    assert sum(piece.size_bytes for piece in lies.pieces()) == lies.read_bytes
    assert max(piece.size_bytes for piece in lies.pieces()) <= BLOCK_BYTES


@pytest.mark.parametrize(
    ("view", "readable"),
    [
        (np.zeros((4, 5))[:, ::2], True),
        (np.zeros((4, 5))[::-1].T, True),
        (np.broadcast_to(np.zeros(5), (4, 5)), False),
        (np.lib.stride_tricks.sliding_window_view(np.zeros(9), 3), False),
        (np.lib.stride_tricks.as_strided(np.zeros(9), (MAX_PIECES + 1,), (2 * PAGE,)), False),
    ],
)
def test_elements_that_share_bytes_are_copied_first(
    view: np.ndarray[Any, Any], readable: bool
) -> None:
    assert readable == can_be_read(elements(view))


def apart(count: int) -> Elements:
    """So many elements, each pages from the next."""
    return lying_at(0, (count,), (2 * PAGE,), 1)


def in_blocks(count: int) -> Elements:
    """Every second byte of so many blocks."""
    return lying_at(0, (count * BLOCK_BYTES // 2,), (2,), 1)


@pytest.mark.parametrize(
    ("arrays", "quick"),
    [
        ([apart(MAX_PIECES)] * (MOST_PIECES // MAX_PIECES), True),
        ([apart(MAX_PIECES)] * (MOST_PIECES // MAX_PIECES) + [apart(2)], False),
        ([in_blocks(1024)] * (MOST_READ_BYTES >> 30), True),
        ([in_blocks(1024)] * ((MOST_READ_BYTES >> 30) + 1), False),
        ([lying_at(0, (1 << 40,), (1,), 1)] * 100, True),  # without gaps: as many bytes as it has
    ],
)
def test_what_all_arrays_cost_to_read_is_bounded(arrays: list[Elements], *, quick: bool) -> None:
    with contextlib.nullcontext() if quick else pytest.raises(ValueError, match="pieces"):
        expect_quick_to_read(arrays)


@pytest.mark.parametrize(
    "at",
    [
        [], [0], [0, 8, 8, 8], [0, 8.0, 8], [0, True, 8], ["0", 8, 8], [1 << 50, 40, 16],
        [0, -(1 << 50), 8], [0, 0, 8], [0, 8, 4], [0, 40, 7],
    ],
)  # fmt: skip
def test_a_malformed_place_is_refused(at: list[Any]) -> None:
    with pytest.raises(ValueError, match="elements"):
        elements_of({"s": [4, 3], "n": 96, "at": at})


@pytest.mark.parametrize(
    ("shape", "size_bytes"),
    [([4, 0], 0), ([4, -3], 96), ([4, 3], 97), ([4, 3], 240), ([4.0, 3], 96)],
)
def test_a_place_of_a_malformed_array_is_refused(shape: list[Any], size_bytes: int) -> None:
    with pytest.raises(ValueError, match="elements"):
        elements_of({"s": shape, "n": size_bytes, "at": [0, 40, 8]})


def test_a_place_is_read_as_it_was_told() -> None:
    found = elements_of({"s": [4, 3], "n": 96, "at": [16, -80, 24]})
    assert Elements(16, (4, 3), (-80, 24), 8) == found
    assert (16 - 240, 240 + 48 + 8) == (found.low, found.span_bytes)
