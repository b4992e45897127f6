"""Messages arrive as they were sent, and nothing else is taken for one."""

import json
import typing
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest

from kernelbot.harness.words.message import (
    Message,
    NotAMessage,
    Unchecked,
    decode,
    encode,
    prepare,
)
from kernelbot.protocol import Limits


class Colour(StrEnum):
    RED = "red"


class Family(Message):
    """What is said here."""


class Others(Message):
    """What is said elsewhere."""


class Bare(Family, word="bare"):
    """Nothing but a word."""


class Full(Family, word="full"):
    """A field of every type."""

    count: int
    flag: bool
    text: str
    seconds: float
    colour: Colour
    places: tuple[int, ...]
    names: dict[str, str]
    limits: Limits
    value: Unchecked
    size: int | None = None


class Elsewhere(Others, word="elsewhere"):
    """Nothing that is said here."""


FULL = Full(1, True, "x", 0.5, Colour.RED, (1, 2), {"a": "b"}, Limits(), {"t": [None, 1]})
DEEP: Any = json.loads("[" * 900 + "]" * 900)


@pytest.mark.parametrize("message", [Bare(), FULL])
def test_a_message_arrives_as_it_was_sent(message: Family) -> None:
    assert message == decode(Family, encode(message))


def test_a_prepared_family_is_not_looked_into_again(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Inner:
        count: int

    class Prepared(Message):
        """A family that nobody has seen before, and so has its part."""

    class Outer(Prepared, word="outer"):
        inner: Inner | None

    hints = {Inner: {"count": int}, Outer: {"inner": Inner | None}}
    monkeypatch.setattr(typing, "get_type_hints", hints.__getitem__)
    prepare(Prepared)
    monkeypatch.setattr(typing, "get_type_hints", None)
    assert Outer(Inner(1)) == decode(Prepared, encode(Outer(Inner(1))))


def test_the_word_stands_beside_the_fields() -> None:
    assert {"op": "elsewhere"} == json.loads(encode(Elsewhere()))


def test_what_is_left_out_is_as_it_is_declared() -> None:
    said = json.loads(encode(FULL))
    del said["size"]
    assert FULL == decode(Family, json.dumps(said).encode())


@pytest.mark.parametrize(
    "changes",
    [
        *({"count": True}, {"count": 1.0}, {"count": "1"}, {"count": None}, {"flag": 1}),
        *({"text": 1}, {"text": DEEP}, {"seconds": "1"}, {"seconds": 10**400}, {"colour": "blue"}),
        *({"colour": DEEP}, {"places": 1}, {"places": [True]}, {"names": {"a": 1}}),
        *({"limits": {"none": 1}}, {"size": "1"}, {"more": 1}, {"self": 1}, {"": 1}),
        *({"op": "bare"}, {"op": "elsewhere"}, {"op": ""}, {"op": None}, {"op": DEEP}, {"op": 1}),
    ],
)
def test_a_message_with_another_part_is_none(changes: dict[str, Any]) -> None:
    said = json.loads(encode(FULL)) | changes
    with pytest.raises(NotAMessage):
        decode(Family, json.dumps(said).encode())


@pytest.mark.parametrize("name", ["count", "flag", "colour", "limits", "value", "op"])
def test_a_message_without_a_part_is_none(name: str) -> None:
    said = json.loads(encode(FULL))
    del said[name]
    with pytest.raises(NotAMessage):
        decode(Family, json.dumps(said).encode())


@pytest.mark.parametrize(
    "body", [b"", b"x", b"[]", b"1", b"null", b"\xff", b"[" * 99_999, b'{"op": "bare", "more": 1}']
)
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(NotAMessage):
        decode(Family, body)


def test_the_sentence_about_what_is_no_message_is_short() -> None:
    with pytest.raises(NotAMessage) as refused:
        decode(Family, json.dumps({"op": "full", "x" * 100_000: 1}).encode())
    assert 300 >= len(str(refused.value))


def test_what_is_no_part_of_a_message_is_not_sent() -> None:
    with pytest.raises(TypeError, match="a set is no part of a message"):
        encode(Full(1, True, "x", 0.5, Colour.RED, (), {}, Limits(), {1}))
