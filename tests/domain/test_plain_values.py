"""What is read and written without pydantic is what pydantic reads and writes."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from kernelbot.accounts.answers import AccountList
from kernelbot.accounts.model import Me, Role
from kernelbot.accounts.tokens.answers import TokenList
from kernelbot.boards.answers import BoardList
from kernelbot.domain.plain_values import Unclear, plain, read
from kernelbot.ranking.authors.model import Author
from kernelbot.ranking.model import StandingsPage
from kernelbot.runs.devices.schemas import DeviceList
from kernelbot.schemas import values
from kernelbot.submissions.model import SubmissionEvent
from tests.support.exhaustive import cases, examples

ANSWERS = [
    AccountList,
    Author,
    TokenList,
    BoardList,
    DeviceList,
    StandingsPage,
    SubmissionEvent,
    Me,
]
SOME = cases(ANSWERS, always=[AccountList, TokenList, StandingsPage, SubmissionEvent, Me])
"""Those that hold many others take longest."""
LEAVES = st.sampled_from(
    [None, True, 0, 3, -1, 2.5, 1e300, "", "x", "admin", "2026-01-01", [], {}, [1], {"a": 1}]
)


def built(kind: type) -> st.SearchStrategy[Any]:
    with_zone = st.datetimes(
        min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)
    )
    st.register_type_strategy(datetime, with_zone)
    st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
    st.register_type_strategy(str, st.text(st.characters(codec="utf-8"), max_size=8))
    return st.from_type(kind)


@pytest.mark.parametrize("kind", SOME, ids=lambda kind: kind.__name__)
def test_values_are_read_and_written_alike(kind: type) -> None:
    @given(built(kind))
    @settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
    def hold(value: Any) -> None:
        text = values.to_json(kind, value)
        assert (value, values.from_json(kind, text)) == (read(kind, text),) * 2
        assert values.plain(value) == plain(value)

    hold()


def replaced(value: Any, path: list[int], leaf: Any) -> Any:
    """The JSON value with another one somewhere in it."""
    if not path or not isinstance(value, dict | list) or not value:
        return leaf
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = keys[path[0] % len(keys)]
    changed = value.copy()
    changed[key] = replaced(value[key], path[1:], leaf)
    return changed


@pytest.mark.parametrize("kind", SOME, ids=lambda kind: kind.__name__)
def test_what_pydantic_refuses_is_not_read(kind: type) -> None:
    @given(built(kind), st.lists(st.integers(0, 30), min_size=1, max_size=4), LEAVES)
    @settings(max_examples=examples(200), suppress_health_check=list(HealthCheck))
    def hold(value: Any, path: list[int], leaf: Any) -> None:
        text = json.dumps(replaced(json.loads(values.to_json(kind, value)), path, leaf))
        try:
            found: Any = read(kind, text)
        except Unclear:
            return
        try:
            assert found == values.from_json(kind, text)
        except ValidationError as error:
            raise AssertionError(f"pydantic refuses {text}: {error}") from None

    hold()


ME = {"id": 1, "name": "ada", "role": "admin", "created_at": "2026-01-01T00:00:00Z"}


def test_keys_of_a_newer_server_are_ignored() -> None:
    found = read(Me, json.dumps(ME | {"shoe_size": 44}))
    assert Me(1, "ada", Role.ADMIN, datetime(2026, 1, 1, tzinfo=UTC)) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        b"\xff",
        json.dumps(ME | {"id": "1"}),
        json.dumps(ME | {"id": True}),
        json.dumps(ME | {"role": "emperor"}),
        json.dumps(ME | {"created_at": "2026-W01-1"}),
        json.dumps(ME | {"name": "\ud800"}),
        json.dumps({key: value for key, value in ME.items() if key != "name"}),
        "[" * 100_000,
    ],
    ids=range(10),
)
def test_what_is_not_plainly_a_value_is_left_to_pydantic(text: str | bytes) -> None:
    with pytest.raises(Unclear):
        read(Me, text)


@dataclass(frozen=True)
class Holder:
    """One field of each kind of value that isn't known."""

    either: str | Role


def test_a_type_that_says_two_things_of_a_word_is_left_to_pydantic() -> None:
    with pytest.raises(Unclear):
        read(Holder, '{"either": "admin"}')


@dataclass(frozen=True)
class Sets:
    """A field of a type that JSON hasn't."""

    numbers: set[int]


def test_a_type_that_json_has_not_is_left_to_pydantic() -> None:
    with pytest.raises(Unclear, match=re.escape("set[int]")):
        read(Sets, '{"numbers": [1]}')


@dataclass(frozen=True)
class Both:
    """A value of a subclass where its base is declared."""

    person: Me


@dataclass(frozen=True)
class Known(Me):
    """Has what nobody is sent."""

    secret: str = "s"


def test_what_a_subclass_adds_is_not_written() -> None:
    both = Both(Known(1, "ada", Role.ADMIN, datetime(2026, 1, 1, tzinfo=UTC)))
    with pytest.raises(Unclear):
        plain(both)
    assert "secret" not in values.plain(both)["person"]
