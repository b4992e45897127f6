"""Typed messages of the conversations inside the harness, and how they become JSON and back.

The other end may be hostile: a message is of a kind that it may say, with this kind's fields and no
others, each of its type. Only fields of type `Unchecked` are left to whoever uses them.
"""

import dataclasses
import json
import typing
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, ClassVar, TypeVar

from kernelbot.protocol.codec import Json, WireError, decoder_of, encode_value, precompile_parts

_MAX_SHOWN = 300
_LEFT_OUT = object()
_PLAIN = (int, bool, str)
Unchecked = Any
"""Any value of JSON: the skeleton of a value, whose reader checks it, or what has many parts."""


class NotAMessage(ValueError):
    """What arrived is no message that may be said here."""

    def __init__(self, text: str) -> None:
        super().__init__(text[:_MAX_SHOWN])


@typing.dataclass_transform(frozen_default=True)
class Message:
    """What one end says to another.

    A direct subclass is a family: all that one end may say in a conversation. Each subclass of that
    is one kind of message, with a `word` by which it is told from the others. All are made frozen
    dataclasses here.
    """

    word: ClassVar[str] = ""

    def __init_subclass__(cls, word: str = "") -> None:
        """Name a kind, and make it a dataclass."""
        super().__init_subclass__()
        cls.word = word
        dataclasses.dataclass(frozen=True)(cls)


M = TypeVar("M", bound=Message)


@dataclasses.dataclass(frozen=True)
class _MessageKind:
    kind: type[Message]
    names: frozenset[str]
    """The names of all fields."""
    plain: tuple[tuple[str, type], ...]
    """Fields whose value is of exactly this type."""
    other: tuple[tuple[str, Callable[[Json, str], Any]], ...]
    """Fields whose value another function reads."""


@dataclasses.dataclass(frozen=True)
class _Family:
    kinds: dict[str, _MessageKind]
    """By their words."""
    bare: dict[bytes, Message]
    """Messages without fields, by their JSON: one of these begins a timed call."""


def encode(message: Message) -> bytes:
    """A message as JSON."""
    fields = vars(message)
    if not fields:
        return _bare(message.word)
    return _ENCODER.encode({"op": message.word, **fields}).encode()


@cache
def _bare(word: str) -> bytes:
    return _ENCODER.encode({"op": word}).encode()


def decode(family: type[M], body: bytes) -> M:
    """Read a message of a family. Raises `NotAMessage`."""
    known = prepare(family)  # type: ignore[arg-type] # mypy: a class with a bound isn't hashable
    if (bare := known.bare.get(body)) is not None:
        return typing.cast(M, bare)
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotAMessage(f"not JSON: {error}") from error
    if type(told) is not dict:
        raise NotAMessage("not an object")
    word = told.pop("op", None)
    kind = known.kinds.get(word) if type(word) is str else None
    if kind is None:
        shown = word[:100] if type(word) is str else "none"
        raise NotAMessage(f"a word that nobody says here: {shown}")
    for name, wanted in kind.plain:
        if type(value := told.get(name, _LEFT_OUT)) is not wanted and value is not _LEFT_OUT:
            raise NotAMessage(f"{word}.{name} is of type {type(value).__name__}")
    try:
        for name, read in kind.other:
            if name in told:
                told[name] = read(told[name], f"{word}.{name}")
        return typing.cast(M, _made(kind, told))
    except (WireError, TypeError, RecursionError) as error:  # TypeError: a field too many or few
        raise NotAMessage(str(error)) from error


def _made(kind: _MessageKind, fields: dict[str, Any]) -> Message:
    """Raises TypeError for a field too many or too few."""
    if fields.keys() != kind.names:
        return kind.kind(**fields)
    message = object.__new__(kind.kind)  # twice as quick: beside timed calls that counts
    vars(message).update(fields)
    return message


@cache
def prepare(family: type[Message]) -> _Family:
    """The kinds of a family: found out once, for all forks of a process."""
    kinds = family.__subclasses__()
    bare = {encode(kind()): kind() for kind in kinds if not _fields_of(kind)}
    return _Family({kind.word: _kind(kind) for kind in kinds}, bare)


def _fields_of(kind: type[Message]) -> list[tuple[str, Any]]:
    hints = typing.get_type_hints(kind)
    return [(field.name, hints[field.name]) for field in dataclasses.fields(kind)]  # type: ignore[arg-type] # each kind is a dataclass


def _kind(kind: type[Message]) -> _MessageKind:
    fields = _fields_of(kind)
    for _, hint in fields:
        precompile_parts(hint)
    return _MessageKind(
        kind,
        frozenset(name for name, _ in fields),
        tuple((name, hint) for name, hint in fields if hint in _PLAIN),
        tuple(
            (name, decoder_of(hint))
            for name, hint in fields
            if hint not in _PLAIN and hint is not Unchecked
        ),
    )


def _in_json(value: object) -> Json:
    if dataclasses.is_dataclass(value) or isinstance(value, Enum):
        return encode_value(value)
    raise TypeError(f"a {type(value).__name__} is no part of a message")


_ENCODER = json.JSONEncoder(default=_in_json, check_circular=False)
