"""Reads and writes frozen dataclasses by their types alone, without pydantic, which takes longer to
load than a command of the terminal takes for all else.

What isn't plainly of its type is `Unclear`: then pydantic decides what it is, or says what is
wrong. So nothing is read here that pydantic would refuse, or would read as something else.
"""

import dataclasses
import json
import re
import types
import typing
from collections.abc import Callable
from datetime import date, datetime
from enum import Enum
from functools import cache, partial
from typing import Any, NoReturn, TypeVar

from kernelbot.domain.bounds import Keep, OrKept, Within
from kernelbot.domain.values import SentAs

T = TypeVar("T")
Convert = Callable[[Any], Any]
_NONE = type(None)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT = re.compile(rf"{_DAY.pattern}T\d\d:\d\d:\d\d(\.\d{{1,6}})?(Z|[+-]\d\d:\d\d)?", re.ASCII)
"""Python reads more forms of ISO 8601 than pydantic does, such as weeks."""
_ESCAPED_SURROGATE = "\\ud"
_NO_OTHERS = {"extra": "forbid"}
"""Has pydantic refuse keys that are no field."""


class Unclear(ValueError):
    """A value isn't plainly of its type, or the type isn't one that is known here."""


def read(kind: type[T], text: str | bytes) -> T:
    """The value of a JSON text; keys that are no field are ignored. Raises `Unclear`."""
    try:
        words = text.decode() if isinstance(text, bytes) else text
        _require(_ESCAPED_SURROGATE not in words.lower(), "a surrogate")
        given = json.loads(words, parse_constant=_refuse)
        return typing.cast(T, _reader(typing.cast(Any, kind))(given))
    except (ValueError, TypeError, RecursionError) as error:
        raise Unclear(str(error)) from None


def plain(value: object) -> Any:
    """All fields of a value, as what `json.dumps` takes. Raises `Unclear`, also for what isn't
    within its bounds."""
    kind: Any = type(value)  # mypy takes no `type` for hashable
    try:
        return _writer(kind)(value)
    except RecursionError as error:
        raise Unclear(str(error)) from None


def _refuse(constant: str) -> NoReturn:
    raise Unclear(constant)


@cache  # each type is looked at once, not for each value of a list
def _reader(kind: Any) -> Convert:
    return _convert(kind, reads=True)


@cache
def _writer(kind: Any) -> Convert:
    return _convert(kind, reads=False)


def _convert(kind: Any, *, reads: bool) -> Convert:
    """What makes a value of JSON's, or the other way round."""
    origin = typing.get_origin(kind)
    if origin is typing.Annotated:
        return _annotated(kind, reads=reads)
    if origin is typing.Literal:
        return _literal(kind)
    if origin in (typing.Union, types.UnionType):
        return _union(typing.get_args(kind), reads=reads)
    if origin in (tuple, list, dict):
        return _container(origin, typing.get_args(kind), reads=reads)
    if kind is Any:
        return _of_json
    if not isinstance(kind, type):
        raise Unclear(str(kind))
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, reads=reads)
    if issubclass(kind, Enum):
        return partial(_member if reads else _value_of, kind)
    return _scalar(kind, reads=reads)


def _scalar(kind: type, *, reads: bool) -> Convert:
    if kind is datetime:
        return _moment if reads else _moment_as_text
    if kind is date:
        return _day if reads else _day_as_text
    if kind is float:
        return _number
    if kind in (str, int, bool, _NONE):
        return partial(_exactly, kind)
    raise Unclear(str(kind))


def _container(kind: type, args: tuple[Any, ...], *, reads: bool) -> Convert:
    inner = _reader if reads else _writer
    if kind is dict:
        return partial(_mapping, inner(args[0]), inner(args[1]))
    given, made = (list, kind) if reads else (kind, list)
    if kind is tuple and args[-1] is not Ellipsis:
        return partial(_fixed, tuple(map(inner, args)), given, made)
    return partial(_items, inner(args[0]), given, made)


def _annotated(kind: Any, *, reads: bool) -> Convert:
    known = kind.__metadata__[0]
    if len(kind.__metadata__) > 1 or not isinstance(known, SentAs | Within | OrKept):
        raise Unclear(str(kind))
    if isinstance(known, Within):
        return partial(_bounded, _convert(kind.__origin__, reads=reads), known, reads)
    view = _convert(known.view, reads=reads)
    if isinstance(known, OrKept):
        return view
    if reads:
        return lambda value: known.to_value(view(value))
    return lambda value: view(known.to_view(value))


def _bounded(convert: Convert, bounds: Within, reads: bool, value: Any) -> Any:
    made = convert(value)
    _require(bounds.has(made if reads else value), value)
    return made


def _union(kinds: tuple[Any, ...], *, reads: bool) -> Convert:
    inner = _reader if reads else _writer
    scalars = {kind: inner(kind) for kind in kinds if kind in (str, int, float, bool, _NONE)}
    others = [kind for kind in kinds if kind not in scalars]
    are_words = all(isinstance(kind, type) and issubclass(kind, Enum) for kind in others)
    if (others and str in scalars) or (len(others) > 1 and not are_words):
        raise Unclear(str(kinds))
    of_others = [inner(kind) for kind in others]

    def convert(value: Any) -> Any:
        if type(value) in scalars:
            return scalars[type(value)](value)
        if type(value) is int and float in scalars:
            return float(value)
        for other in of_others:
            try:
                return other(value)
            except (ValueError, TypeError):
                continue
        raise Unclear(repr(value)[:100])

    return convert


def _dataclass(kind: type, *, reads: bool) -> Convert:
    fields = dataclasses.fields(kind)
    config = getattr(kind, "__pydantic_config__", {})
    if config not in ({}, _NO_OTHERS) or not all(field.init for field in fields):
        raise Unclear(str(kind))
    hints = typing.get_type_hints(kind, include_extras=True)
    inner = _reader if reads else _writer
    keepable = {name for name, hint in hints.items() if _is_kept_if_absent(hint)}
    keys = {field.name: field.metadata.get("alias", field.name) for field in fields}
    known: dict[str, Convert] = {}

    def converters() -> dict[str, Convert]:  # later: a type may hold values of itself
        if not known:
            known.update({field.name: inner(hints[field.name]) for field in fields})
        return known

    def make(value: Any) -> Any:
        _require(type(value) is dict, value)
        _require(not config or value.keys() <= {*keys.values()}, value)
        given = {name: value[key] for name, key in keys.items() if key in value}
        return kind(**{name: converters()[name](item) for name, item in given.items()})

    def take_apart(value: Any) -> dict[str, Any]:
        _require(type(value) is kind, value)
        given = {name: getattr(value, name) for name in keys}
        return {
            keys[name]: converters()[name](item)
            for name, item in given.items()
            if not (name in keepable and item is Keep.KEEP)
        }

    return make if reads else take_apart


def _is_kept_if_absent(hint: Any) -> bool:
    return any(isinstance(one, OrKept) for one in getattr(hint, "__metadata__", ()))


def _of_json(value: Any) -> Any:
    """Any value of JSON's own kinds."""
    if type(value) is dict:
        return {_exactly(str, key): _of_json(item) for key, item in value.items()}
    if type(value) is list:
        return [_of_json(item) for item in value]
    _require(type(value) in (str, int, float, bool, _NONE), value)
    return value


def _fixed(parts: tuple[Convert, ...], given: type, made: Callable[[Any], Any], value: Any) -> Any:
    _require(type(value) is given, value)
    _require(len(value) == len(parts), value)
    return made([of(item) for of, item in zip(parts, value, strict=True)])


def _items(of: Convert, given: type, made: Callable[[Any], Any], value: Any) -> Any:
    _require(type(value) is given, value)
    return made([of(item) for item in value])


def _mapping(of_key: Convert, of_item: Convert, value: Any) -> dict[Any, Any]:
    _require(type(value) is dict, value)
    return {of_key(key): of_item(item) for key, item in value.items()}


def _member(kind: type[Enum], value: Any) -> Enum:
    _require(type(value) is str, value)
    return kind(value)


def _value_of(kind: type[Enum], value: Any) -> Any:
    _require(type(value) is kind, value)
    return value.value


def _moment(value: Any) -> datetime:
    _require(type(value) is str and _MOMENT.fullmatch(value) is not None, value)
    return datetime.fromisoformat(value)


def _moment_as_text(value: Any) -> str:
    _require(type(value) is datetime, value)
    text: str = value.isoformat()
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def _day(value: Any) -> date:
    _require(type(value) is str and _DAY.fullmatch(value) is not None, value)
    return date.fromisoformat(value)


def _day_as_text(value: Any) -> str:
    _require(type(value) is date, value)
    return str(value)


def _number(value: Any) -> float:
    _require(type(value) in (float, int), value)
    return float(value)


def _exactly(kind: type, value: Any) -> Any:
    _require(type(value) is kind, value)
    return value


def _literal(kind: Any) -> Convert:
    words = typing.get_args(kind)
    if not all(type(word) is str for word in words):
        raise Unclear(str(kind))
    return partial(_one_of, words)


def _one_of(words: tuple[Any, ...], value: Any) -> Any:
    _require(type(value) is str and value in words, value)
    return value


def _require(plainly: bool, value: object) -> None:
    if not plainly:
        raise Unclear(repr(value)[:100])
