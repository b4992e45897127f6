"""Reads and writes frozen dataclasses by their types alone."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from kernelbot.domain.bounds import Keep

T = TypeVar("T")
_AT_ONCE = 250


def adapter(kind: type[T]) -> TypeAdapter[T]:
    """What reads and writes values of this type, dataclasses as well as models."""
    found: TypeAdapter[T] = _adapter(kind)  # type: ignore[arg-type]  # types are hashable
    return found


def from_row(kind: type[T], row: Mapping[str, Any]) -> T:
    """A row by column name as a value; columns that are no field are ignored."""
    return adapter(kind).validate_python(row)


async def from_rows(kind: type[T], rows: Sequence[Mapping[str, Any]]) -> tuple[T, ...]:
    """Rows as values; what else this event loop has to do goes on between some hundred of them,
    which take a few milliseconds."""
    import asyncio  # here: a client has no rows, and would load it for its first odd value

    found: list[T] = []
    for start in range(0, len(rows), _AT_ONCE):
        if start:
            await asyncio.sleep(0)
        found += [from_row(kind, row) for row in rows[start : start + _AT_ONCE]]
    return tuple(found)


def from_json(kind: type[T], text: str | bytes) -> T:
    """The value of a JSON text; keys that are no field are ignored, so that an older client
    understands a newer server. Raises pydantic's `ValidationError`."""
    return adapter(kind).validate_json(text)


def to_json(kind: type[T], value: T, *, indent: int | None = None) -> bytes:
    """The fields that `kind` has; those that a subclass adds are left out."""
    return adapter(kind).dump_json(value, by_alias=True, indent=indent)


def plain(value: object) -> Any:
    """All fields of a value or a model, as what `json.dumps` takes."""
    return adapter(type(value)).dump_python(value, mode="json", by_alias=True)


def checked(value: T) -> Any:
    """`plain` of a value whose fields nobody has checked so far. Raises `ValidationError`."""
    of = adapter(type(value))
    kept = {name for name, item in vars(value).items() if item is Keep.KEEP}
    given = {name: item for name, item in vars(value).items() if name not in kept}
    return of.dump_python(of.validate_python(given), mode="json", exclude=kept)


@cache  # one is made of each type, and making it takes longer than using it
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
