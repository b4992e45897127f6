"""What the models of the HTTP API share. Times are UTC, in ISO 8601 with a zone."""

from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.schemas.values import adapter

NAME_MAX = 200
T = TypeVar("T")


def storable(text: str) -> str:
    """`text` itself; a validation error if a database can't store it (NUL, lone surrogates)."""
    # Not a ValueError: pydantic would put "Value error" before the sentence.
    if "\x00" in text:
        raise PydanticCustomError("not_storable", "it holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("not_storable", "it holds half of a surrogate pair") from None
    return text


Text = Annotated[str, AfterValidator(storable)]
"""Any text that can be stored."""

Name = Annotated[
    str,
    Field(min_length=1, max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$"),
    AfterValidator(storable),
]
"""A name as people type it: no control characters."""

Id = Annotated[int, Field(ge=1, le=BIGINT_MAX)]
"""A database id."""


class Answer(BaseModel):
    """Base of everything the server sends. Unknown keys are ignored, so that an older client
    understands a newer server."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Shown(Answer):
    """Base of answers that have the fields of one of our dataclasses, or some of them."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def from_domain(cls, value: object) -> Self:
        """The value as it is shown."""
        return cls.model_validate(value)

    def to(self, kind: type[T]) -> T:
        """Back to the dataclass; fields that it has in addition get their defaults."""
        return adapter(kind).validate_python(self.model_dump())


class RequestBody(BaseModel):
    """Base of every JSON body the server accepts. Unknown keys are refused: else a misspelt one
    would be ignored silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")
