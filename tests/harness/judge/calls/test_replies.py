"""Whatever a runner says of a call becomes a value or the author's failure, never anything else."""

import contextlib
import copy
import ctypes
import json
import os
import socket
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelbot.harness.data.channel import Channel, ChannelGarbage
from kernelbot.harness.data.encode import Encoded, encode
from kernelbot.harness.data.process_memory import read_memory
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.cage.checking import complaint
from kernelbot.harness.inside.cage.loader import ProblemBroken, ProblemFunctions
from kernelbot.harness.inside.runner.probes import OUTPUT_BASE, take
from kernelbot.harness.judge.calls.probes import choose
from kernelbot.harness.judge.calls.replies import (
    CallAnswer,
    read_answer,
    read_answer_in_place,
    value_read,
    value_shared,
)
from kernelbot.harness.words.failures import AuthorFailure, expect_reply, garbage, no_value
from kernelbot.harness.words.runner_messages import Done, DoneInPlace, RefusalReason, RunnerReply
from kernelbot.harness.words.windows import Window
from kernelbot.protocol import Limits, Verdict
from tests.harness.outputs import built

R = TypeVar("R", bound=RunnerReply)
LIMITS = Limits(memory_bytes=1 << 20)
MODULES = frozenset({__name__})
Named = namedtuple("Named", ["left", "right"])


@dataclass
class Record:
    array: Any
    number: float


def an_output() -> tuple[Any, ...]:
    return (
        np.arange(6, dtype=np.float32).reshape(2, 3),
        torch.ones(3, 2, dtype=torch.bfloat16),
        np.float64(1.5),
        Named([1, 2.5], {"a": None, 3: True}),
        Record(np.zeros(0), 0.5),
        b"bytes",
        "text",
        complex(1, 2),
    )


@contextlib.contextmanager
def output_buffer() -> Iterator[SharedBuffer]:
    buffer = SharedBuffer.create(OUTPUT_BASE + 8192)
    try:
        yield buffer
    finally:
        buffer.close()


COPIED = {"op": "done", "fits": True, "aliased": False, "claim_ns": 1000, "start_ns": 5}
"""What an honest runner says of a call, but for its output."""
IN_PLACE = {"op": "done in place"}


def a_reply(way: Any, encoded: Encoded) -> dict[str, Any]:
    """What an honest runner says, in JSON."""
    output = {"value": encoded.skeleton, "size": encoded.size_bytes}
    places = {"at": [leaf.address for leaf in encoded.leaves]}
    said = COPIED | output if way is copied else IN_PLACE | output | places
    heard: dict[str, Any] = json.loads(json.dumps(said))
    return heard


def hear(reply: dict[str, Any], wanted: type[R]) -> R:
    """As a judge does."""
    mine, theirs = socket.socketpair()
    with mine, theirs:
        Channel(theirs).send_bytes(json.dumps(reply).encode())
        try:
            heard, _ = Channel(mine).receive(RunnerReply)
        except ChannelGarbage as error:
            raise garbage(str(error)) from error
    return expect_reply(heard, wanted, "The submission failed")


def copied(reply: dict[str, Any], encoded: Encoded, probes: list[int]) -> Any:
    """Read as an untimed call's answer."""
    with output_buffer() as buffer:
        encoded.copy_to(buffer, OUTPUT_BASE)
        take(buffer, encoded, probes, ctypes.memmove)
        answer = read_answer(hear(reply, Done), LIMITS)
        return built(value_shared(answer, buffer, probes, MODULES, "cpu"), MODULES)


def in_place(reply: dict[str, Any], _encoded: Encoded, _probes: list[int]) -> Any:
    """Read as a timed call's answer, from a process's memory: here our own."""

    def read(target: int, address: int, size_bytes: int) -> None:
        read_memory(os.getpid(), address, target, size_bytes)

    try:
        answer = read_answer_in_place(hear(reply, DoneInPlace), LIMITS, Window(1000, 0, 5))
        return built(value_read(answer, read, MODULES), MODULES)
    except OSError as error:  # as a tray does
        raise no_value(error) from error


WAYS = (copied, in_place)
PROBLEM = ProblemFunctions(
    generate=dict,
    check=lambda _data, output: bool(np.allclose(output[0], 0)) and output[4].number > 0,
    reference=lambda _data: an_output(),
    modules=MODULES,
)


def read_reply(way: Any, reply: dict[str, Any], encoded: Encoded) -> None:
    """Raises where something else comes out than a value that can be judged, or a failure."""
    try:
        value = way(reply, encoded, choose())
    except AuthorFailure:
        return
    assert isinstance(complaint(PROBLEM, None, value, an_output()), str)


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = {"t": "list", "v": [value]}
    return value


HOSTILE = st.one_of(
    st.sampled_from(
        [
            *(-1, 0, 1, 7, 1 << 31, 1 << 47, 1 << 63, 1 << 64, 10**400, -(10**400)),
            *(0.5, float("nan"), float("inf"), True, False, None, "", "x", "\ud800", "\0", "0x"),
            *("float32", "object", "tensor", "bytes", "list", "record", "task", "0x1p99999"),
            *([], {}, [[]], [None], [1, 2], {"t": "bytes", "o": 0, "n": 8}, {"t": "list"}),
            *(nested(20), nested(40), nested(90), [0] * 100),
        ]
    ),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from("tvonskdgpmc"), inner, max_size=6),
        ),
        max_leaves=8,
    ),
)


def places(value: Any) -> Iterator[Callable[[Any], None]]:
    """A function for each part of JSON that puts another value in its place."""
    keys = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(keys):

        def put(new: Any, key: Any = key) -> None:
            value[key] = new

        yield put
        if isinstance(part, dict | list):
            yield from places(part)


@pytest.mark.parametrize("way", WAYS)
@settings(deadline=None)
@given(data=st.data())
def test_a_true_reply_with_parts_replaced(way: Any, data: st.DataObject) -> None:
    encoded = encode(an_output(), MODULES)
    reply = a_reply(way, encoded)
    for _ in range(data.draw(st.integers(1, 3))):
        put = data.draw(st.sampled_from(list(places(reply))))
        put(copy.deepcopy(data.draw(HOSTILE)))
    read_reply(way, reply, encoded)


@pytest.mark.parametrize("way", WAYS)
@settings(deadline=None)
@given(data=st.data())
def test_a_true_reply_with_parts_missing(way: Any, data: st.DataObject) -> None:
    encoded = encode(an_output(), MODULES)
    reply = a_reply(way, encoded)
    nodes = [reply["value"], *(node for node in reply["value"]["v"] if isinstance(node, dict))]
    for node in data.draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=3)):
        if node:
            del node[data.draw(st.sampled_from(sorted(node)))]
    read_reply(way, reply, encoded)


@settings(deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_any_skeleton_addresses_and_numbers(value: Any, at: Any, claim: Any, size: Any) -> None:
    encoded = encode(an_output(), MODULES)
    lies = {"value": value, "at": at}
    read_reply(in_place, a_reply(in_place, encoded) | lies, encoded)
    lies = {"value": value, "claim_ns": claim, "size": size}
    read_reply(copied, a_reply(copied, encoded) | lies, encoded)


@settings(deadline=None)
@given(st.sampled_from([*RefusalReason, "hm"]), HOSTILE, HOSTILE)
def test_any_failure_that_is_told(why: str, text: Any, fault: Any) -> None:
    encoded = encode(an_output(), MODULES)
    reply = {"op": "refused", "why": why, "text": text, "gpu_fault": fault}
    for way in WAYS:
        with pytest.raises(AuthorFailure):
            way(reply, encoded, choose())


@pytest.mark.parametrize("way", WAYS)
def test_a_word_that_no_runner_says_is_refused(way: Any) -> None:
    words: tuple[Any, ...] = ("setup", "", "message", None, 5, ["done"], {})
    for word in words:
        failure = failure_of(way, op=word)
        assert (Verdict.RULE_VIOLATION, True) == (failure.verdict, failure.fatal)


@pytest.mark.parametrize("way", WAYS)
def test_an_honest_reply_is_its_value(way: Any) -> None:
    encoded = encode(an_output(), MODULES)
    assert "" == complaint(
        ProblemFunctions(dict, lambda _data, _output: True, None, MODULES),
        None,
        way(a_reply(way, encoded), encoded, choose()),
        an_output(),
    )


def failure_of(way: Any, output: Any = None, **changes: Any) -> AuthorFailure:
    encoded = encode(an_output() if output is None else output, MODULES)
    with pytest.raises(AuthorFailure) as raised:
        way({**a_reply(way, encoded), **changes}, encoded, choose())
    return raised.value


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "changes",
    [
        {"size": 10**400},
        {"size": True},
        {"more": 1},
        {"value": {"t": "list", "v": [5]}},
        {"value": {"t": "dict", "v": [["a"]]}},
        {"value": {"t": "bytes"}},
        {"value": nested(400)},
    ],
)
def test_a_hostile_reply_is_refused(way: Any, changes: dict[str, Any]) -> None:
    assert failure_of(way, **changes).verdict in (Verdict.RULE_VIOLATION, Verdict.WRONG_ANSWER)


@pytest.mark.parametrize(
    "changes", [{"claim_ns": 10**400}, {"claim_ns": -1}, {"start_ns": 1 << 80}, {"fits": 1}]
)
def test_a_hostile_claim_is_refused(changes: dict[str, Any]) -> None:
    assert Verdict.RULE_VIOLATION == failure_of(copied, **changes).verdict


def bytes_node(offset: int, size: int) -> dict[str, Any]:
    return {"t": "bytes", "o": offset, "n": size}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("second", [bytes_node(0, 16), bytes_node(8, 8), bytes_node(15, 64)])
def test_leaves_that_overlap_are_refused(way: Any, second: dict[str, Any]) -> None:
    twice = {"t": "list", "v": [bytes_node(0, 16), second]}
    pair = [bytes(16), bytes(64)]
    assert "bytes that belong to two values" in failure_of(way, pair, value=twice).message


def test_no_more_is_read_than_the_answer_is_large() -> None:
    reads: list[int] = []
    sizes = {"t": "list", "v": [bytes_node(0, 16), bytes_node(64, 1 << 40)]}
    answer = CallAnswer(sizes, 128, Window(1000, 0, 5), (1, 2))
    with pytest.raises(AuthorFailure, match="outside of the buffer"):
        value_read(answer, lambda _target, _source, size: reads.append(size), MODULES)
    assert [] == reads


def test_an_output_far_larger_than_the_right_one_is_wrong_and_not_read() -> None:
    reply = hear({**a_reply(copied, encode(1, MODULES)), "size": 1001}, Done)
    with pytest.raises(AuthorFailure, match="1001 bytes, far more than the right output") as raised:
        read_answer(reply, LIMITS, max_bytes=1000)
    assert (Verdict.WRONG_ANSWER, False) == (raised.value.verdict, raised.value.fatal)


@pytest.mark.parametrize("at", [None, [None], [0, 0], [], [-1], [1 << 64], [8], [True]])
def test_addresses_that_are_none_are_refused(at: Any) -> None:
    assert Verdict.RULE_VIOLATION == failure_of(in_place, np.ones(3), at=at).verdict


@pytest.mark.parametrize("at", [[-1], [1 << 64], [True], [1.0]])
def test_nothing_is_read_at_what_is_no_address(at: Any) -> None:
    reply = {**a_reply(in_place, encode(np.ones(3), MODULES)), "at": at}
    with pytest.raises(AuthorFailure, match="was tampered with"):
        read_answer_in_place(hear(reply, DoneInPlace), LIMITS, Window(1000, 0, 5))


def test_an_empty_array_may_lie_nowhere() -> None:
    encoded = encode(torch.zeros(0, 3), MODULES)
    assert (0, 3) == in_place({**a_reply(in_place, encoded), "at": [0]}, encoded, []).shape


def test_a_tensor_arrives_without_its_gradient() -> None:
    encoded = encode(torch.ones(2, requires_grad=True), MODULES)
    for way in WAYS:
        value = way(a_reply(way, encoded), encoded, choose())
        assert ([1.0, 1.0], False) == (value.tolist(), value.requires_grad)


def test_a_judge_without_memory_blames_nobody_else() -> None:
    def read(_target: int, _address: int, _size: int) -> None:
        raise MemoryError

    skeleton = encode(np.zeros(4), frozenset()).skeleton
    answer = CallAnswer(skeleton, 32, Window(1, 1), (4096,))
    with pytest.raises(ProblemBroken, match="The judge has too little memory"):
        value_read(answer, read, MODULES)


def test_an_output_that_changed_after_its_probes_were_taken_is_refused() -> None:
    encoded = encode(np.zeros(500), MODULES)
    probes = choose()
    with output_buffer() as buffer:
        encoded.copy_to(buffer, OUTPUT_BASE)
        take(buffer, encoded, probes, ctypes.memmove)
        ctypes.memset(buffer.address + OUTPUT_BASE, 77, encoded.size_bytes)
        answer = read_answer(hear(a_reply(copied, encoded), Done), LIMITS)
        with pytest.raises(AuthorFailure, match="The output changed after"):
            value_shared(answer, buffer, probes, MODULES, "cpu")


def test_an_address_without_an_array_is_refused() -> None:
    encoded = encode(np.zeros(500), MODULES)
    addresses = (encoded.leaves[0].address, 4096)
    answer = CallAnswer(encoded.skeleton, encoded.size_bytes, Window(1, 1), addresses)
    with pytest.raises(AuthorFailure, match="more addresses than arrays"):
        value_read(answer, ctypes.memmove, MODULES)


@pytest.mark.parametrize("at", [5, None, {}, [-1], [1 << 64], [True], ["1"]])
def test_what_are_no_addresses_is_tampered_with(at: object) -> None:
    reply = IN_PLACE | {"value": None, "size": 0, "at": at}
    with pytest.raises(AuthorFailure, match="tampered with"):
        read_answer_in_place(hear(reply, DoneInPlace), LIMITS, Window(1000, 0, 5))
