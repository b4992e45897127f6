"""Frozen dataclasses to JSON values and back: unknown keys and wrong types are refused."""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache, partial
from typing import Any, TypeVar

from kernelbot.protocol.version import PROTOCOL_VERSION, check_version

T = TypeVar("T")
_AS_THEY_ARE = frozenset((str, int, bool, type(None)))
Json = Any
"""What `json.loads` can return; checked field by field on the way in."""

Decoder = Callable[[Json, str], Any]
"""Reads a value; its path is for the error."""


class WireError(ValueError):
    """A message that isn't of the declared shape; the text names the path that is wrong."""


def to_wire(message: Any) -> dict[str, Json]:
    """A dataclass as a JSON object whose first key is the protocol's `version`."""
    return {"version": PROTOCOL_VERSION, **encode_value(message)}


def from_wire(kind: type[T], value: Json) -> T:
    """Read what `to_wire` wrote. Raises `VersionMismatch` or `WireError`."""
    if not isinstance(value, dict):
        raise WireError(f"{kind.__name__}: expected an object, got {type(value).__name__}")
    check_version(value.get("version"))
    body = {key: item for key, item in value.items() if key != "version"}
    return typing.cast(T, decoder_of(kind)(body, kind.__name__))


@cache
def precompile_decoders(kind: type) -> None:
    """Make the decoders of a message's type and of all types in it before the first message, and
    find out what to encode of these: once for all forks of a process."""
    _fields(kind)
    _field_names(kind)
    for hint in typing.get_type_hints(kind).values():
        precompile_parts(hint)


def precompile_parts(hint: Any) -> None:
    """The same for all types of messages in a type's hint, as `tuple[Case, ...] | None`."""
    for part in _dataclasses_in(hint):
        precompile_decoders(part)


def _dataclasses_in(hint: Any) -> Iterator[Any]:
    if dataclasses.is_dataclass(hint):
        yield hint
    for part in typing.get_args(hint):
        yield from _dataclasses_in(part)


def encode_value(value: Any) -> Json:
    """A value of dataclasses, enums, lists and dicts as JSON has it. Raises `WireError`."""
    kind: Any = type(value)  # mypy takes no `type` for hashable
    if kind in _AS_THEY_ARE:
        return value
    if (names := _field_names(kind)) is not None:
        return {name: encode_value(getattr(value, name)) for name in names}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [encode_value(item) for item in value]
    if isinstance(value, dict):
        return {key: encode_value(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise WireError(f"{value} can't be sent: JSON has no NaN and no infinity")
    return value


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """None if it is no dataclass."""
    if not dataclasses.is_dataclass(kind):
        return None
    return tuple(field.name for field in dataclasses.fields(kind))


def decoder_of(kind: Any) -> Decoder:
    """How a value of the type is read; of type `Any`, it is taken as it is. Each type is inspected
    once and not for every value: a result has hundreds of values."""
    if kind is Any:
        return lambda value, _path: value
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union(args)
    if origin is tuple:
        return _tuple_of(args)
    if origin is list:
        return _list_of(decoder_of(args[0]))
    if origin is dict:
        return _dict_of(decoder_of(args[1]))
    if isinstance(kind, str | typing.ForwardRef):  # within itself the alias is only a name
        name = kind if isinstance(kind, str) else kind.__forward_arg__
        return lambda value, path: _forward(name)(value, path)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return partial(_decode_dataclass, kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return partial(_decode_member, kind)
    return _decode_float if kind is float else partial(_decode_scalar, kind)


@cache
def _forward(name: str) -> Decoder:
    from kernelbot.protocol import job  # the only recursive alias; imported late to avoid a cycle

    return decoder_of(getattr(job, name))


def _union(kinds: tuple[Any, ...]) -> Decoder:
    optional = type(None) in kinds
    decoders = [decoder_of(kind) for kind in kinds if kind is not type(None)]

    def decode(value: Json, path: str) -> Any:
        if value is None and optional:
            return None
        errors = []
        for decoder in decoders:
            try:
                return decoder(value, path)
            except WireError as error:
                errors.append(str(error))
        raise WireError("; ".join(errors))

    return decode


def _tuple_of(kinds: tuple[Any, ...]) -> Decoder:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        items = _list_of(decoder_of(kinds[0]))
        return lambda value, path: tuple(items(value, path))
    decoders = [decoder_of(kind) for kind in kinds]

    def decode(value: Json, path: str) -> Any:
        _require(isinstance(value, list), path, "a list", value)
        _require(len(value) == len(decoders), path, f"{len(decoders)} items", value)
        pairs = zip(decoders, value, strict=True)
        return tuple(decoder(item, f"{path}[{i}]") for i, (decoder, item) in enumerate(pairs))

    return decode


def _list_of(decoder: Decoder) -> Decoder:
    def decode(value: Json, path: str) -> Any:
        _require(isinstance(value, list), path, "a list", value)
        return [decoder(item, f"{path}[{i}]") for i, item in enumerate(value)]

    return decode


def _dict_of(decoder: Decoder) -> Decoder:
    def decode(value: Json, path: str) -> Any:
        _require(isinstance(value, dict), path, "an object", value)
        return {key: decoder(item, f"{path}.{key}") for key, item in value.items()}

    return decode


@cache
def _fields(kind: type) -> dict[str, Decoder]:
    return {name: decoder_of(hint) for name, hint in typing.get_type_hints(kind).items()}


def _decode_dataclass(kind: type, value: Json, path: str) -> Any:
    _require(isinstance(value, dict), path, "an object", value)
    decoders = _fields(kind)
    unknown = sorted(value.keys() - decoders.keys())
    if unknown:
        raise WireError(f"{path}: unknown key {unknown[0]!r}")
    fields = {name: decoders[name](item, f"{path}.{name}") for name, item in value.items()}
    try:
        return kind(**fields)
    except TypeError as error:
        raise WireError(f"{path}: {error}") from None


def _decode_member(kind: type[Enum], value: Json, path: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(str(member.value) for member in kind)
        raise WireError(f"{path}: expected one of {allowed}, got {value!r}") from None


def _decode_float(value: Json, path: str) -> float:
    _require(_is_finite(value), path, "a number", value)
    return float(value)


def _decode_scalar(kind: type, value: Json, path: str) -> Any:
    _require(type(value) is kind, path, kind.__name__, value)
    return value


def _is_finite(value: Json) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def _require(condition: bool, path: str, expected: str, value: Json) -> None:
    if not condition:
        raise WireError(f"{path}: expected {expected}, got {type(value).__name__}")
