"""Validation errors are in our words, never pydantic's."""

from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from kernelbot.protocol import Mode
from kernelbot.schemas.common import Name
from kernelbot.schemas.mistakes import what_is_wrong


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (int, "x", "must be a whole number"),
        (int, 1.5, "must be a whole number"),
        (float, "x", "must be a number"),
        (bool, "perhaps", "must be true or false"),
        (Annotated[int, Field(ge=1)], 0, "must be at least 1"),
        (Annotated[int, Field(le=9)], 10, "must be at most 9"),
        (Annotated[str, Field(min_length=1)], "", "must have at least 1 character"),
        (Annotated[list[int], Field(max_length=2)], [1, 2, 3], "must have at most 2 items"),
        (Mode, "x", "must be 'test', 'benchmark', 'profile' or 'leaderboard'"),
        (Name, "a\nb", "is blank, or has characters that aren't allowed here"),
        (dict[str, int], 1, "must be a table of keys and values"),
        (complex, "x", "can't be read"),
    ],
)
def test_a_mistake_in_our_words(kind: Any, given: object, expected: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(given)
    assert expected == what_is_wrong(caught.value.errors()[0])
