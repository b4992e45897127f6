"""Traces are read as far as they are traces, whatever an author's process wrote."""

import gzip
import json
import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.submissions.profiles import trace as module
from kernelbot.submissions.profiles.model import CallKind, CallSide
from kernelbot.submissions.profiles.trace import Call, NotATrace, Trace, read_trace
from tests.support.traces import event, trace_of

ADD = event("aten::add", 10, 5)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
FIELDS = st.sampled_from(["ph", "cat", "name", "pid", "tid", "ts", "dur"])


def names(found: Trace, place: CallSide = CallSide.PROCESSOR) -> list[str]:
    return [call.name for thread in found.calls.get(place, ()) for call in thread]


def test_a_call_has_its_times_and_its_kind() -> None:
    found = read_trace(trace_of([ADD]))
    assert {CallSide.PROCESSOR: [[Call("aten::add", CallKind.OPERATOR, 10, 15)]]} == found.calls
    assert found.is_whole


def test_each_thread_has_a_list_and_the_gpu_is_another_place() -> None:
    events = [ADD, event("b", 1, 2, thread=2), event("k", 1, 2, category="kernel", thread="7")]
    found = read_trace(trace_of(events))
    assert [["aten::add"], ["b"]] == [
        [call.name for call in one] for one in found.calls[CallSide.PROCESSOR]
    ]
    assert ["k"] == names(found, CallSide.GPU)


@pytest.mark.parametrize("category", ["Trace", "gpu_user_annotation"])
def test_what_spans_others_is_left_out(category: str) -> None:
    assert ["aten::add"] == names(
        read_trace(trace_of([event("all", 0, 99, category=category), ADD]))
    )


def test_a_list_of_events_alone_and_without_gzip_is_a_trace() -> None:
    assert ["aten::add"] == names(read_trace(json.dumps([ADD]).encode()))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x1f\x8b",
        b"\x1f\x8bxxxxxxxxxxxx",
        b"{}",
        b"[",
        b"[]",
        b"\xff\xfe",
        b"null",
        trace_of([]),
    ],
)
def test_what_is_no_trace_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(NotATrace):
        read_trace(content)


@pytest.mark.parametrize(
    "wrong",
    [
        event("x", math.nan, 1),
        event("x", 1, math.inf),
        event("x", 1e300, 1),
        event("x", 10**4000, 1),
        event("x", 1, -1),
        event("x", "1", 1),
        event("x", True, 1),
        event("x", None, 1),
        {**ADD, "name": 7},
        {**ADD, "cat": ["cpu_op"]},
        {**ADD, "ph": "B"},
        [],
        "x",
        None,
        7,
    ],
)
def test_what_is_no_call_is_passed_over(wrong: object) -> None:
    found = read_trace(trace_of([wrong, ADD, wrong]))
    assert (["aten::add"], True) == (names(found), found.is_whole)


def test_names_are_short_and_can_be_printed() -> None:
    events = [event("a\n\x1b[2J\ud800", 1, 1), event("y" * 1000, 2, 1)]
    shown = names(read_trace(trace_of(events)))
    assert ["a\\n\\x1b[2J\\ud800", "y" * 200] == shown


def test_of_what_is_cut_or_broken_the_beginning_is_read() -> None:
    whole = gzip.decompress(trace_of([ADD] * 100))
    for broken in (gzip.compress(whole[: len(whole) // 2]), trace_of([ADD] * 100)[:-20]):
        found = read_trace(broken)
        assert (True, False) == ("aten::add" in names(found), found.is_whole)


def test_nesting_without_an_end_is_where_reading_ends() -> None:
    deep = b'{"args": ' + b"[" * 100_000
    content = b'{"traceEvents": [' + json.dumps(ADD).encode() + b"," + deep
    found = read_trace(content)
    assert (["aten::add"], False) == (names(found), found.is_whole)


@pytest.mark.parametrize("field", ["pid", "tid"])
def test_a_thread_is_named_by_a_number_or_a_text_alone(field: str) -> None:
    events = [{**ADD, field: [1]}, {**ADD, field: {}}, {**ADD, field: 10**4000}, {**ADD, field: ""}]
    assert [4] == [len(one) for one in read_trace(trace_of(events)).calls[CallSide.PROCESSOR]]


def test_a_thread_nested_too_deeply_to_be_written_out_is_none() -> None:
    nested: list[object] = []
    for _ in range(10_000):
        nested = [nested]
    found = module._call({**ADD, "tid": nested}, module._Names())
    assert found is not None
    assert (CallSide.PROCESSOR, "1 ") == found[0]


def test_of_very_many_events_the_first_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_EVENTS", 3)
    found = read_trace(trace_of([{}, {}, ADD, ADD]))
    assert (["aten::add"], False) == (names(found), found.is_whole)


@pytest.mark.exhaustive  # each run has test_any_events_are_read_or_refused
def test_of_much_that_takes_little_packed_the_beginning_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 20)
    content = gzip.compress(b'{"traceEvents": [' + json.dumps(ADD).encode() + b" " * (100 << 20))
    tracemalloc.start()
    found = read_trace(content)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (["aten::add"], False) == (names(found), found.is_whole)
    assert most_bytes < 8 << 20


@given(st.lists(st.dictionaries(FIELDS | st.text(), JSON) | JSON))
def test_any_events_are_read_or_refused(events: list[object]) -> None:
    found = read_trace(trace_of([*events, ADD]))
    assert "aten::add" in names(found)
    assert all(
        call.start_us <= call.end_us for one in found.calls.values() for t in one for call in t
    )


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for given_bytes in (content, gzip.compress(content), b'{"traceEvents":[' + content):
        try:
            read_trace(given_bytes)
        except NotATrace:
            continue
