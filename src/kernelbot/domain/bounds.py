"""Bounds of values that people send, without pydantic, which reads them on the server."""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypedDict, Unpack


class Keep(Enum):
    """Says that a field stays as it is, if None already has a meaning. It is left out in JSON."""

    KEEP = "keep"


class Limits(TypedDict, total=False):
    """What a value has to satisfy, in the words of pydantic and of JSON Schema. Of `pattern`, any
    part of a text."""

    min_length: int
    max_length: int
    pattern: str
    ge: int
    le: int
    tz_constraint: str
    """"aware": a moment names its time zone."""


class Within:
    """Metadata of a type: `Annotated[int, Within(ge=1)]` is a number from 1 on. Texts are such that
    a database can store them."""

    def __init__(self, **limits: Unpack[Limits]) -> None:
        self._limits: Mapping[str, Any] = limits

    def __get_pydantic_core_schema__(self, source: object, handler: Any) -> dict[str, Any]:
        """What pydantic asks of metadata; in its terms, since values import no framework."""
        schema = handler(source)
        if schema["type"] == "tuple":  # of a list pydantic looks at the length before the items
            (items,) = schema["items_schema"]
            listed = {"type": "list", "items_schema": items, **self._limits}
            written = {"type": "function-plain", "function": list, "return_schema": listed}
            return {**_after(tuple, listed), "serialization": written}
        schema = {**schema, **self._limits}
        return _after(storable, schema) if source is str else schema

    def has(self, value: Any) -> bool:
        """Whether a value of the type is plainly within them; whatever isn't, pydantic decides."""
        return all(_KEEPS[name](value, limit) for name, limit in self._limits.items()) and (
            type(value) is not str or _is_storable(value)
        )


_KEEPS: Mapping[str, Callable[[Any, Any], bool]] = {
    "min_length": lambda value, limit: len(value) >= limit,
    "max_length": lambda value, limit: len(value) <= limit,
    # Python's `$` is also before a line's end at the end of the text.
    "pattern": lambda value, limit: not value.endswith("\n") and bool(re.search(limit, value)),
    "ge": lambda value, limit: value >= limit,
    "le": lambda value, limit: value <= limit,
    "tz_constraint": lambda value, _limit: value.utcoffset() is not None,
}


def _after(function: Callable[[Any], Any], schema: dict[str, Any]) -> dict[str, Any]:
    """What is read by the schema is given to the function."""
    call = {"type": "no-info", "function": function}
    return {"type": "function-after", "function": call, "schema": schema}


class OrKept:
    """Metadata of a type: `Annotated[T | Keep, OrKept(T)]` is a T in JSON, or isn't there."""

    def __init__(self, view: Any) -> None:
        self.view = view

    def __get_pydantic_core_schema__(self, _source: object, handler: Any) -> Any:
        """What pydantic asks of metadata."""
        return handler.generate_schema(self.view)


def storable(text: str) -> str:
    """`text` itself. Raises ValueError if a database can't store it (NUL, lone surrogates)."""
    if "\x00" in text:
        raise ValueError("it holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair") from None
    return text


def _is_storable(text: str) -> bool:
    try:
        return bool(storable(text)) or not text
    except ValueError:
        return False
