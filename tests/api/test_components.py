"""Clients are generated from the document: its components keep their names, fields and order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelbot.api.app import create_app
from kernelbot.api.openapi import NAMES
from kernelbot.api.settings import ApiSettings
from tests.support.applications import application
from tests.support.door import Door
from tests.support.world import World

COMPONENTS = Path(__file__).with_name("components.txt")
"""A line for each: its name, and its fields or values in their order."""
SHOWN_ONCE = {
    ("DeviceLoginView", "device_code"),
    ("IssuedTokenView", "token"),
    ("NewUserView", "token"),
    ("NewWebhookView", "secret"),
}
"""Secrets that are answered, to whoever has just asked for them."""
_SECRET = ("token", "secret", "hash", "password", "device_code", "private_key")


def schemas(world: World) -> dict[str, Any]:
    document = application(create_app, world.services, ApiSettings()).openapi()
    found: dict[str, Any] = document["components"]["schemas"]
    return found


def test_components_keep_their_names_and_fields(world: World) -> None:
    lines = [
        f"{name}: {' '.join(schema.get('properties') or schema.get('enum', []))}"
        for name, schema in schemas(world).items()
    ]
    assert COMPONENTS.read_text() == "\n".join(lines) + "\n"


def test_every_known_name_is_that_of_a_component(world: World) -> None:
    assert set() == set(NAMES.values()) - schemas(world).keys()


@pytest.mark.exhaustive  # each run has test_components_keep_their_names_and_fields
def test_no_answer_has_a_secret_but_those_that_are_shown_once(world: World) -> None:
    found = set(_secret_fields(world))
    assert SHOWN_ONCE == found


async def test_what_only_the_server_knows_is_not_answered(door: Door) -> None:
    await door.world.board()
    person = (await door.ada.get("/api/v1/users/me")).json()
    board = (await door.ada.get("/api/v1/boards/sort")).json()
    listed = (await door.ada.get("/api/v1/boards")).json()["boards"]
    statement = (await door.ada.get("/api/v1/boards/sort/problem")).json()
    sent = await door.world.submit(content=b"a = 1\n")
    submission = (await door.ada.get(f"/api/v1/submissions/{sent.id}")).json()
    (listed_submission,) = (await door.ada.get("/api/v1/submissions")).json()["submissions"]
    assert ["id", "name", "role", "created_at", "token_expires_at"] == list(person)
    assert ([board], False) == (listed, "id" in board)
    assert not statement.keys() & {"leaderboard", "spec"}
    for one in (submission, listed_submission):
        assert not one.keys() & {"board_id", "author_id"}
        assert not one["runs"][0].keys() & {"submission_id", "rejudge_id", "not_ranked"}


def _secret_fields(world: World) -> Iterator[tuple[str, str]]:
    known = schemas(world)
    for name in _answered(world):
        for field, schema in known[name].get("properties", {}).items():
            if schema.get("type") != "boolean" and (field in _SECRET or "binary" in str(schema)):
                yield name, field


def _answered(world: World) -> set[str]:
    """The components that answers are made of, directly or within others."""
    document = application(create_app, world.services, ApiSettings()).openapi()
    found = {
        name
        for operations in document["paths"].values()
        for operation in operations.values()
        for answer in operation["responses"].values()
        for name in _named(answer)
    }
    known = document["components"]["schemas"]
    while more := {name for one in found for name in _named(known[one])} - found:
        found |= more
    return found


def _named(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].rpartition("/")[2]
        part = list(part.values())
    if isinstance(part, list):
        for item in part:
            yield from _named(item)
