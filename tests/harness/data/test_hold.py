"""A value that is taken over is the one that was described, though nothing is built of it."""

import ctypes
import json
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelbot.harness.data.decode import InvalidValue
from kernelbot.harness.data.encode import Encoded, encode
from kernelbot.harness.data.hold import held_memory, hold, items_of
from kernelbot.harness.data.leaves import leaf_nodes
from tests.harness.outputs import built
from tests.support.exhaustive import examples

MODULES = frozenset({__name__})
Named = namedtuple("Named", ["left", "right"])
LARGE = np.arange(1 << 18, dtype=np.float64)


@dataclass
class Record:
    array: Any
    number: float


ARRAYS: st.SearchStrategy[Any] = st.builds(
    lambda shape, order, dtype: (
        np.arange(np.prod(shape, dtype=int))
        .reshape(shape)
        .astype(dtype)
        .transpose(np.random.default_rng(order).permutation(len(shape)))
    ),
    st.lists(st.integers(0, 3), max_size=4),
    st.integers(0, 9),
    st.sampled_from(["float16", "float32", "int8", "bool", "complex128", "uint64"]),
)
PARTS = st.one_of(
    ARRAYS,
    ARRAYS.filter(lambda array: array.dtype != np.uint64).map(torch.from_numpy),
    ARRAYS.map(lambda array: array.reshape(-1)[:1].sum()),
    st.sampled_from(
        [None, True, -5, 10**30, 1.5, float("nan"), 1 - 2j, "text", b"some bytes", b""]
    ),
)
VALUES = st.recursive(
    PARTS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.integers(0, 3), st.text(max_size=2)), inner, max_size=3),
        st.builds(Named, inner, inner),
        st.builds(Record, inner, st.floats()),
    ),
    max_leaves=6,
)


def memory_of(encoded: Encoded) -> bytes:
    """Its raw bytes, each leaf's at its offset."""
    memory = bytearray(encoded.size_bytes)
    for leaf in encoded.leaves:
        there = slice(leaf.offset, leaf.offset + leaf.size_bytes)
        memory[there] = ctypes.string_at(leaf.address, leaf.size_bytes)
    return bytes(memory)


def in_json(skeleton: Any) -> Any:
    return json.loads(json.dumps(skeleton))


def described(encoded: Encoded) -> Any:
    """Its skeleton, but for the strides of what is empty: no step is ever made along them."""
    skeleton = in_json(encoded.skeleton)
    for node in leaf_nodes(skeleton):
        if not node["n"]:
            node.pop("k", None)
    return skeleton


def held(encoded: Encoded, device: str | None = None) -> Encoded:
    memory = memory_of(encoded)

    def read(target: int, offset: int, size_bytes: int) -> None:
        ctypes.memmove(target, memory[offset : offset + size_bytes], size_bytes)

    return hold(in_json(encoded.skeleton), read, encoded.size_bytes, MODULES, device)


@settings(deadline=None, max_examples=examples(200))
@given(VALUES)
def test_it_is_described_as_the_value_itself_would_be(value: Any) -> None:
    given = encode(value, MODULES)
    expected, found = encode(built(given, MODULES), MODULES), held(given)
    assert described(expected) == described(found)
    assert memory_of(expected) == memory_of(found)


@settings(deadline=None, max_examples=examples(100))
@given(st.lists(VALUES, max_size=4))
def test_a_list_is_taken_apart_into_its_items(values: list[Any]) -> None:
    found = list(items_of(held(encode(values, MODULES))))
    for value, item in zip(values, found, strict=True):
        expected = encode(built(encode(value, MODULES), MODULES), MODULES)
        assert described(expected) == described(item)
        assert memory_of(expected) == memory_of(item)


def test_a_large_value_lies_in_pages_of_its_own() -> None:
    found = held(encode([LARGE, LARGE], MODULES))
    assert memory_of(found) == LARGE.tobytes() * 2


def test_nothing_comes_along_that_was_not_checked() -> None:
    encoded = encode((torch.ones(2, requires_grad=True), np.ones(3), 1.5, {"a": b"x"}), MODULES)
    spoiled = in_json(encoded.skeleton)
    for node in (spoiled, *spoiled["v"]):
        node["extra"] = ["anything"]
    found = hold(spoiled, lambda *_: None, encoded.size_bytes, MODULES, "cpu")
    assert "extra" not in json.dumps(found.skeleton)
    assert (False, False, "cpu") == tuple(
        found.skeleton["v"][0][name] for name in ["g", "p", "dev"]
    )


def test_where_tensors_are_is_left_or_told() -> None:
    encoded = encode(torch.ones(2), MODULES)
    encoded.skeleton["dev"] = "cuda:1"
    devices = [held(encoded, device).skeleton["dev"] for device in (None, "cpu")]
    assert ["cuda:1", "cpu"] == devices


@pytest.mark.parametrize("kind", ["dict", "record"])
def test_two_values_of_one_name_are_refused(kind: str) -> None:
    encoded = encode({"a": b"1"} if kind == "dict" else Record(b"1", 2.0), MODULES)
    twice = in_json(encoded.skeleton)
    twice["v"].append(twice["v"][0])
    with pytest.raises(InvalidValue, match="two values of one name"):
        hold(twice, lambda *_: None, encoded.size_bytes, MODULES)


def test_fields_in_another_order_than_their_types_are_refused() -> None:
    encoded = encode(Record(b"1", 2.0), MODULES)
    turned = in_json(encoded.skeleton)
    turned["v"].reverse()
    with pytest.raises(InvalidValue, match="fields that the type doesn't have"):
        hold(turned, lambda *_: None, encoded.size_bytes, MODULES)


def test_no_memory_is_taken_for_what_is_refused() -> None:
    reads: list[int] = []
    beyond = {"t": "list", "v": [{"t": "bytes", "o": 0, "n": 8}, {"t": "bytes", "o": 8, "n": 9}]}
    with pytest.raises(InvalidValue, match="outside of the buffer"):
        hold(beyond, lambda _to, _at, size: reads.append(size), 16, MODULES)
    assert [] == reads


def test_more_memory_than_there_is_can_not_be_held() -> None:
    with pytest.raises(MemoryError):
        held_memory(1 << 62)
