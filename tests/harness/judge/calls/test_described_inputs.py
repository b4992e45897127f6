"""Whether inputs that a runner describes are those that it was given."""

import ctypes
import json
from collections.abc import Iterator

import numpy as np
import pytest

from kernelbot.harness.data.encode import Encoded, encode
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.judge.calls.replies import differ
from kernelbot.harness.words.runner_messages import InputsDescribed, IsReady


@pytest.fixture
def data() -> Encoded:
    return encode((np.arange(3), [1, {"a": np.ones(2)}]), frozenset())


@pytest.fixture
def buffer(data: Encoded) -> Iterator[SharedBuffer]:
    """Holds the data's arrays, as a runner copies them."""
    held = SharedBuffer.create(4096)
    for leaf in data.leaves:
        ctypes.memmove(held.address + leaf.offset, leaf.address, leaf.size_bytes)
    yield held
    held.close()


def described(data: Encoded) -> InputsDescribed:
    return InputsDescribed(json.loads(json.dumps(data.skeleton)))


def test_inputs_that_were_left_alone_are_the_same(data: Encoded, buffer: SharedBuffer) -> None:
    assert not differ(described(data), data, buffer)


def test_without_a_description_or_their_bytes_they_are_not(
    data: Encoded, buffer: SharedBuffer
) -> None:
    other = described(encode((np.arange(3),), frozenset()))
    found = (
        differ(IsReady(), data, buffer),
        differ(described(data), data, None),
        differ(other, data, buffer),
    )
    assert (True, True, True) == found


@pytest.mark.parametrize("at", [0, 1])
def test_one_byte_of_any_array_makes_a_difference(
    data: Encoded, buffer: SharedBuffer, at: int
) -> None:
    leaf = data.leaves[at]
    ctypes.memset(buffer.address + leaf.offset + leaf.size_bytes - 1, 77, 1)
    assert differ(described(data), data, buffer)
