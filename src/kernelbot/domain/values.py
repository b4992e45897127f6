"""Frozen dataclasses that are a row, what the nouns compute with, and JSON at once."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any, Generic, TypeVar

from kernelbot.protocol.late import dataclass

T = TypeVar("T")
V = TypeVar("V")


def described(text: str) -> dict[str, str]:
    """Metadata of a field (`field(metadata=described(...))`): its description in the documentation
    of the API. It says "null" for None."""
    return {"description": text}


def from_fields(kind: type[T], *values: object, **more: object) -> T:
    """A `kind` of what values have in fields of the same names, and of `more`, which counts before
    them; of two values that have one the latter's."""
    given = {name: item for value in values for name, item in vars(value).items()}
    names = _field_names(kind)  # type: ignore[arg-type]  # types are hashable
    same = {name: given[name] for name in names if name in given}
    return kind(**{**same, **more})


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    """The names of the fields of a dataclass, or of a model at a door."""
    model: dict[str, Any] | None = getattr(kind, "model_fields", None)
    return tuple(model) if model is not None else tuple(field.name for field in fields(kind))


@dataclass(frozen=True)
class SentAs(Generic[T, V]):
    """Metadata of a type: `Annotated[T, SentAs(V, to_view, to_value)]` is a T for our own code, and
    a V in JSON and in the documentation of the API."""

    view: type[V]
    to_view: Callable[[T], V]
    to_value: Callable[[V], T]

    def __get_pydantic_core_schema__(self, _source: object, handler: Any) -> dict[str, Any]:
        """What pydantic asks of metadata; in its terms, since values import no framework."""
        view = handler.generate_schema(self.view)
        return {
            "type": "function-after",
            "function": {"type": "no-info", "function": self.to_value},
            "schema": view,
            "serialization": {
                "type": "function-plain",
                "function": self.to_view,
                "return_schema": view,
            },
        }
