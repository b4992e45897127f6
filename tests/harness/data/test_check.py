"""A skeleton is checked as strictly as if its value were built."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelbot.harness.data.check import check
from kernelbot.harness.data.decode import InvalidValue, decode
from kernelbot.harness.data.encode import encode
from kernelbot.harness.data.shared_memory import SharedBuffer
from tests.support.exhaustive import examples

VALUE = encode(
    (np.arange(6.0).reshape(2, 3), torch.ones(4), np.float32(1), b"bytes", {"a": [1, 2.5, None]}),
    frozenset(),
)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, -1, 0, 1, 64, 1 << 50, 1.5, "x", "cuda:99x", [], [1 << 49], [-1, 2], {}, True, "float16"]
)
ON_GPU = {"t": "tensor", "d": "float32", "s": [4], "k": [1], "o": 16, "n": 16, "dev": "cuda:0"}


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 4), st.sampled_from(["t", "d", "s", "k", "o", "n", "dev", "v"]), ODD)
def test_it_refuses_exactly_what_decoding_refuses(part: int, field: str, odd: Any) -> None:
    skeleton = copy.deepcopy(VALUE.skeleton)
    skeleton["v"][part][field] = odd
    buffer = SharedBuffer.create(VALUE.size_bytes)
    try:
        assert refuses_to_check(skeleton, buffer.size_bytes) == refuses_to_decode(skeleton, buffer)
    finally:
        buffer.close()


def refuses_to_check(skeleton: Any, size_bytes: int) -> bool:
    try:
        check(skeleton, size_bytes, 0, frozenset())
    except InvalidValue:
        return True
    return False


def refuses_to_decode(skeleton: Any, buffer: SharedBuffer) -> bool:
    try:
        decode(skeleton, buffer, frozenset())
    except InvalidValue:
        return True
    return False


def test_arrays_are_counted() -> None:
    assert 3 == check(VALUE.skeleton, VALUE.size_bytes, 0, frozenset())


@pytest.mark.parametrize("size_bytes", [31, 32])
def test_those_of_a_gpu_have_bounds_of_their_own(size_bytes: int) -> None:
    fits = not _refuses_on_gpu(size_bytes)
    assert fits == (size_bytes >= 32)


def _refuses_on_gpu(size_bytes: int) -> bool:
    try:
        check(ON_GPU, 0, size_bytes, frozenset())
    except InvalidValue:
        return True
    return False
