"""Frozen dataclasses to JSON values and back: unknown keys and wrong types are refused."""

import dataclasses
import math
import types
import typing
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from kernelbot.protocol.version import PROTOCOL_VERSION, check_version

T = TypeVar("T")
Json = Any
"""What `json.loads` can return; checked field by field on the way in."""


class WireError(ValueError):
    """A message that isn't of the declared shape; the text names the path that is wrong."""


def to_wire(message: Any) -> dict[str, Json]:
    """A dataclass as a JSON object with the protocol's `version` in front."""
    return {"version": PROTOCOL_VERSION, **_encode(message)}


def from_wire(kind: type[T], value: Json) -> T:
    """Read what `to_wire` wrote. Raises `VersionMismatch` or `WireError`."""
    if not isinstance(value, dict):
        raise WireError(f"{kind.__name__}: expected an object, got {type(value).__name__}")
    check_version(value.get("version"))
    body = {key: item for key, item in value.items() if key != "version"}
    return typing.cast(T, _decode(kind, body, kind.__name__))


def _encode(value: Any) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [_encode(item) for item in value]
    if isinstance(value, dict):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise WireError(f"{value} has no place in a message")
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _decode(kind: Any, value: Json, path: str) -> Any:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(typing.get_args(kind), value, path)
    if origin is tuple:
        return _decode_tuple(typing.get_args(kind), value, path)
    if origin is list:
        (item_kind,) = typing.get_args(kind)
        _require(isinstance(value, list), path, "a list", value)
        return [_decode(item_kind, item, f"{path}[{i}]") for i, item in enumerate(value)]
    if origin is dict:
        _, item_kind = typing.get_args(kind)
        _require(isinstance(value, dict), path, "an object", value)
        return {key: _decode(item_kind, item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(kind, typing.ForwardRef):
        return _decode(_forward(kind), value, path)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _decode_dataclass(kind, value, path)
    return _decode_scalar(kind, value, path)


def _forward(ref: typing.ForwardRef) -> Any:
    from kernelbot.protocol import job  # the only recursive alias; imported late to avoid a cycle

    return getattr(job, ref.__forward_arg__)


def _decode_union(kinds: tuple[Any, ...], value: Json, path: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    errors = []
    for kind in kinds:
        if kind is type(None):
            continue
        try:
            return _decode(kind, value, path)
        except WireError as error:
            errors.append(str(error))
    raise WireError("; ".join(errors))


def _decode_tuple(kinds: tuple[Any, ...], value: Json, path: str) -> tuple[Any, ...]:
    _require(isinstance(value, list), path, "a list", value)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_decode(kinds[0], item, f"{path}[{i}]") for i, item in enumerate(value))
    _require(len(value) == len(kinds), path, f"{len(kinds)} items", value)
    pairs = zip(kinds, value, strict=True)
    return tuple(_decode(kind, item, f"{path}[{i}]") for i, (kind, item) in enumerate(pairs))


def _decode_dataclass(kind: type, value: Json, path: str) -> Any:
    _require(isinstance(value, dict), path, "an object", value)
    hints = _hints(kind)
    unknown = sorted(set(value) - set(hints))
    if unknown:
        raise WireError(f"{path}: unknown key {unknown[0]!r}")
    fields = {name: _decode(hints[name], item, f"{path}.{name}") for name, item in value.items()}
    try:
        return kind(**fields)
    except TypeError as error:
        raise WireError(f"{path}: {error}") from None


def _decode_scalar(kind: Any, value: Json, path: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(value)
        except ValueError:
            allowed = ", ".join(str(member.value) for member in kind)
            raise WireError(f"{path}: expected one of {allowed}, got {value!r}") from None
    if kind is float:
        _require(type(value) in (int, float) and math.isfinite(value), path, "a number", value)
        return float(value)
    _require(type(value) is kind, path, kind.__name__, value)
    return value


def _require(condition: bool, path: str, expected: str, value: Json) -> None:
    if not condition:
        raise WireError(f"{path}: expected {expected}, got {type(value).__name__}")
