"""Values made of others by the names of their fields."""

from dataclasses import dataclass

import pytest

from kernelbot.domain.values import from_fields


@dataclass(frozen=True)
class Seen:
    name: str
    size: int = 0
    note: str = ""


@dataclass(frozen=True)
class Stored:
    name: str
    size: int
    secret: str = "x"

    @property
    def note(self) -> str:
        return "no field"


def test_fields_of_the_same_name_are_taken_and_nothing_else() -> None:
    assert Seen("a", 3) == from_fields(Seen, Stored("a", 3))


def test_what_is_given_by_name_counts_before_them_and_the_latter_value_before_the_former() -> None:
    assert Seen("b", 4, "z") == from_fields(Seen, Stored("a", 3), Stored("b", 9), size=4, note="z")


def test_what_no_value_has_is_missing() -> None:
    with pytest.raises(TypeError, match="name"):
        from_fields(Seen, size=1)
