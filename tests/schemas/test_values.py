"""One class is a row, a value and JSON; what a subclass adds stays on the server."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from kernelbot.accounts.model import Person, Role, User
from kernelbot.domain.values import SentAs
from kernelbot.schemas.values import from_json, from_row, from_rows, plain, to_json

WHEN = datetime(2030, 1, 1, tzinfo=UTC)
ROW = {"id": 1, "name": "a'; echo x\n", "role": "admin", "created_at": WHEN}
USER = User(1, "a'; echo x\n", Role.ADMIN, WHEN, banned_at=WHEN)


def test_a_row_becomes_a_value_with_its_enums() -> None:
    found = from_row(User, {**ROW, "banned_at": WHEN, "hash": b"\x00"})
    assert (USER, Role.ADMIN) == (found, found.role)


def test_a_row_without_a_column_is_no_value() -> None:
    with pytest.raises(ValidationError):
        from_row(User, ROW)


async def test_what_else_a_loop_has_to_do_goes_on_between_many_rows() -> None:
    rounds = 0

    async def count() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    found = await from_rows(User, [{**ROW, "banned_at": WHEN, "id": id_} for id_ in range(10_000)])
    counting.cancel()
    assert (10_000, 9_999) == (len(found), found[-1].id)
    assert rounds >= 30


def test_what_was_written_is_read_again() -> None:
    assert USER == from_json(User, to_json(User, USER))


def test_an_older_client_reads_what_a_newer_server_adds() -> None:
    text = b'{"id":1,"name":"ada","role":"admin","created_at":"2030-01-01T00:00:00Z","new":[]}'
    assert Person(1, "ada", Role.ADMIN, WHEN) == from_json(Person, text)


def test_what_a_subclass_adds_is_not_written() -> None:
    expected = {"id", "name", "role", "created_at"}
    assert expected == from_json(dict, to_json(Person, USER)).keys()


def test_a_type_that_is_sent_as_another_has_that_ones_json() -> None:
    minutes = Annotated[timedelta, SentAs(int, lambda one: one.seconds // 60, _minutes)]
    kind = dict[str, minutes | None]
    found = {"a": timedelta(minutes=3), "b": None}
    assert b'{"a":3,"b":null}' == to_json(kind, found)
    assert found == from_json(kind, b'{"a":3,"b":null}')
    assert {"type": "integer"} == TypeAdapter(minutes).json_schema(mode="serialization")


def _minutes(number: int) -> timedelta:
    return timedelta(minutes=number)


def test_plain_has_all_fields_of_the_value() -> None:
    assert ("admin", "2030-01-01T00:00:00Z") == (plain(USER)["role"], plain(USER)["banned_at"])
