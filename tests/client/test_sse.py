from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.client.sse import Frame, SseParser

STREAM = (
    b': hello\n\nid: 1\nevent: case\ndata: {"a": 1}\n\n'
    b"id: 2\r\ndata: one\r\ndata:two\r\n\r\n: quiet\n\nevent: end\rdata: {}\r\rdata: unfinished"
)
FRAMES = [
    Frame("case", '{"a": 1}', "1"),
    Frame("message", "one\ntwo", "2"),
    Frame("end", "{}", None),
]


def test_a_stream_in_one_piece() -> None:
    assert FRAMES == SseParser().feed(STREAM)


@given(st.lists(st.integers(min_value=0, max_value=len(STREAM)), max_size=40))
def test_a_stream_in_any_pieces(cuts: list[int]) -> None:
    parser = SseParser()
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(edges)]
    assert FRAMES == [frame for piece in pieces for frame in parser.feed(piece)]


def test_a_stream_byte_by_byte() -> None:
    parser = SseParser()
    assert FRAMES == [frame for byte in STREAM for frame in parser.feed(bytes([byte]))]


@pytest.mark.parametrize("separator", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85"])
def test_only_line_ends_of_the_standard_end_a_line(separator: str) -> None:
    stream = f"data: a{separator}b\n\n".encode()
    assert [Frame("message", f"a{separator}b", None)] == SseParser().feed(stream)


def test_a_frame_without_data_is_no_event() -> None:
    assert [] == SseParser().feed(b"event: ping\nid: 3\n\n")


def test_an_id_with_a_nul_is_ignored() -> None:
    assert [Frame("message", "x", None)] == SseParser().feed(b"id: 1\x002\ndata: x\n\n")


def test_a_line_in_a_hundred_thousand_pieces() -> None:
    parser = SseParser()
    for _ in range(100_000):  # put together anew with each of them, it would take minutes
        assert [] == parser.feed(b"x" * 100)
    (frame,) = parser.feed(b"\ndata: y\n\n")
    assert Frame("message", "y", None) == frame
