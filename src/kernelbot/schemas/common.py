"""What the models of the HTTP API share. Times are UTC, in ISO 8601 with a zone."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from kernelbot.domain.ids import BIGINT_MAX

NAME_MAX = 200


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


class RequestBody(BaseModel):
    """Base of every JSON body the server accepts. Unknown keys are refused: else a misspelt one
    would be ignored silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")
