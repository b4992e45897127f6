"""What is plainly of a kind of value, as it is read and written without pydantic."""

import json
import re
import types
import typing
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from kernelbot.accounts.model import Role
from kernelbot.domain.bounds import Within
from kernelbot.domain.plain_values import Unclear, plain, read
from kernelbot.domain.states import ReviewState, RunState
from kernelbot.domain.values import SentAs
from kernelbot.schemas import values

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
IN_PARIS = AT.replace(tzinfo=timezone(timedelta(hours=2)))
DAYS = Annotated[timedelta, SentAs(int, lambda gap: gap.days, lambda days: timedelta(days))]


@dataclass(frozen=True)
class Tree:
    """Holds values of itself."""

    name: str
    parts: "tuple[Tree, ...]" = ()


@dataclass(frozen=True)
class Optional:
    """Needs nothing."""

    name: str = ""


@dataclass(frozen=True)
class Named:
    """Has a field of another name in JSON, and nothing else there."""

    short: str = field(metadata={"alias": "inJson"})
    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 (pydantic wants a dictionary)


class Level(Enum):
    """Members that are no words."""

    FIRST = 1


def holder(kind: Any) -> Any:
    return make_dataclass("Holder", [("value", kind)], frozen=True)


PLAIN: list[tuple[Any, Any, Any]] = [
    (str, "x", "x"),
    (int, 3, 3),
    (bool, True, True),
    (float, 2.5, 2.5),
    (type(None), None, None),
    (date, "2026-01-02", date(2026, 1, 2)),
    (datetime, "2026-01-02T03:04:05Z", AT),
    (datetime, "2026-01-02T03:04:05+02:00", IN_PARIS),
    (datetime, "2026-01-02T03:04:05.000006", datetime(2026, 1, 2, 3, 4, 5, 6)),
    (Role, "admin", Role.ADMIN),
    (tuple[int, str], [1, "a"], (1, "a")),
    (tuple[int], [1], (1,)),
    (tuple[int, ...], [1, 2, 3], (1, 2, 3)),
    (list[float], [1.5], [1.5]),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (dict[Role, date], {"admin": "2026-01-02"}, {Role.ADMIN: date(2026, 1, 2)}),
    (int | None, 3, 3),
    (int | None, None, None),
    (int | float, 3, 3),
    (date | None, None, None),
    (date | None, "2026-01-02", date(2026, 1, 2)),
    (bool | date, "2026-01-02", date(2026, 1, 2)),
    (RunState | ReviewState, "held", ReviewState.HELD),
    (RunState | ReviewState, "queued", RunState.QUEUED),
    (DAYS, 3, timedelta(3)),
    (Literal["a", "b"], "b", "b"),
    (Any, {"a": [1, 2.5, None, True, "x"]}, {"a": [1, 2.5, None, True, "x"]}),
    (Named, {"inJson": "a"}, Named("a")),
    (Annotated[str, Within(min_length=1)] | None, "a", "a"),
    (Tree, {"name": "a", "parts": [{"name": "b", "parts": []}]}, Tree("a", (Tree("b"),))),
]


@pytest.mark.parametrize(("kind", "sent", "value"), PLAIN)
def test_a_value_is_read_and_written(kind: Any, sent: Any, value: Any) -> None:
    text, held = json.dumps({"value": sent}), holder(kind)
    found = read(held, text)
    assert (held(value), type(value), {"value": sent}) == (found, type(found.value), plain(found))
    assert values.from_json(held, text) == found


@pytest.mark.parametrize("kind", [float, float | None, list[float]])
def test_a_whole_number_is_read_as_a_float(kind: Any) -> None:
    sent: Any = [3] if kind == list[float] else 3
    found = read(holder(kind), json.dumps({"value": sent})).value
    assert "[3.0]" == str(found if isinstance(found, list) else [found])


@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        (str, "1"),
        (str, "null"),
        (int, "true"),
        (int, "3.0"),
        (int, '"3"'),
        (bool, "1"),
        (float, "true"),
        (float, '"1"'),
        (float, "NaN"),
        (float, "-Infinity"),
        (type(None), "0"),
        (date, '"20260102"'),
        (date, '"2026-W01-1"'),
        (date, '"2026-01-02T00:00:00"'),
        (date, "20260102"),
        (datetime, '"2026-01-02"'),
        (datetime, '"2026-01-02 03:04:05"'),
        (datetime, '"2026-01-02T03:04"'),
        (datetime, '"2026-01-02T030405+00:00"'),
        (datetime, '"2026-W01-1T03:04:05"'),
        (datetime, "3"),
        (Role, '"emperor"'),
        (Role, "1"),
        (Level, "1"),
        (tuple[int, str], "[1]"),
        (tuple[int, str], '[1, "a", 2]'),
        (tuple[int, str], '"1a"'),
        (tuple[str, ...], '"ab"'),
        (list[str], '{"a": 1}'),
        (dict[str, int], "[]"),
        (dict[str, int], '{"a": "b"}'),
        (int | None, '"3"'),
        (int | None, "NaN"),
        (float | None, "true"),
        (date | None, '"tomorrow"'),
        (RunState | ReviewState, '"lost"'),
        (Literal["a", "b"], '"c"'),
        (Any, '{"a": NaN}'),
        (Named, '{"short": "a"}'),
        (Named, '{"inJson": "a", "more": 1}'),
        (Annotated[str, Within(min_length=1)], '""'),
        (Tree, "[]"),
        (Optional, "[]"),
        (Optional, '["x"]'),
        (Optional, "false"),
        (Tree, '{"parts": []}'),
        (str, '"\\ud83d\\ude00"'),
        (str, '"\\uD83D"'),
    ],
)
def test_what_is_not_plainly_of_its_kind_is_unclear(kind: Any, sent: str) -> None:
    with pytest.raises(Unclear):
        read(holder(kind), f'{{"value": {sent}}}')


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (str, 1),
        (int, True),
        (float, "1"),
        (date, AT),
        (datetime, date(2026, 1, 2)),
        (Role, "admin"),
        (Role, RunState.QUEUED),
        (tuple[int, str], [1, "a"]),
        (tuple[int, str], (1,)),
        (tuple[int, ...], [1]),
        (list[int], (1,)),
        (dict[str, int], [("a", 1)]),
        (int | None, "3"),
        (Literal["a", "b"], "c"),
        (Any, {"a": (1,)}),
        (Any, {1: "a"}),
        (Annotated[str, Within(min_length=1)], ""),
        (Tree, {"name": "a"}),
    ],
)
def test_what_is_of_another_kind_is_not_written(kind: Any, value: Any) -> None:
    with pytest.raises(Unclear):
        plain(holder(kind)(value))


@dataclass(frozen=True)
class Counted:
    """Has a field that nobody gives."""

    count: int = field(default=3, init=False)


@dataclass(frozen=True)
class Configured:
    """What pydantic reads in a way of its own."""

    name: str
    __pydantic_config__ = {"extra": "allow"}  # noqa: RUF012 (pydantic wants a dictionary)


@pytest.mark.parametrize(
    "kind",
    [
        Literal[1],
        bytes,
        set[int],
        str | date,
        str | Role,
        date | datetime,
        Tree | Counted,
        Role | Tree,
        Annotated[int, "words"],
        Annotated[int, SentAs(str, str, int), "words"],
        Counted,
        Configured,
    ],
)
def test_other_kinds_are_left_to_pydantic(kind: Any) -> None:
    of_several = typing.get_origin(kind) in (typing.Union, types.UnionType)
    named = str(typing.get_args(kind) if of_several else kind)
    with pytest.raises(Unclear, match=f"^{re.escape(named)}$"):
        read(holder(kind), '{"value": "a"}')


@pytest.mark.parametrize("kind", [str, date | None])
def test_of_a_long_value_only_the_beginning_is_said(kind: Any) -> None:
    with pytest.raises(Unclear) as refused:
        read(holder(kind), json.dumps({"value": [7] * 100}))
    assert str([7] * 100)[:100] == str(refused.value)
