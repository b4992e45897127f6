"""Parameters that come twice, or are huge, on every route: always a documented answer."""

import re
from typing import Any

import httpx
import pytest

from kernelbot.api.app import create_app
from tests.support.door import Door
from tests.support.exhaustive import cases
from tests.support.problems import CORRECT
from tests.support.world import World

HUGE = "9" * 10_000
FILLED = {"board": "sort", "device": "CPU", "mode": "test", "category": "test"}


def queries() -> list[tuple[str, str, str]]:
    """Method, path and name of every query parameter there is."""
    paths: dict[str, Any] = create_app(None).openapi()["paths"]  # type: ignore[arg-type]  # which only routes ask for
    return [
        (method, path, parameter["name"])
        for path, methods in paths.items()
        for method, operation in methods.items()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query" and "events" not in path
    ]


async def ask(door: Door, method: str, path: str, query: str) -> httpx.Response:
    for name in ("board", "device", "mode", "category"):
        path = path.replace(f"{{{name}}}", FILLED[name])
    path = re.sub(r"\{\w+\}", "7", path)
    headers = {"X-Popcorn-Cli-Id": door.world.ada.token}
    return await door.admin.request(method, f"{path}?{query}", headers=headers)


@pytest.mark.parametrize(
    "values", cases([("1", "2"), ("x", "1"), ("", ""), (HUGE, HUGE)], always=[("1", "2")])
)
async def test_a_parameter_that_comes_twice_or_is_huge(
    door: Door, world: World, values: tuple[str, str]
) -> None:
    await world.board()
    found = queries()
    assert len(found) > 30
    for method, path, name in found:
        answer = await ask(door, method, path, "&".join(f"{name}={value}" for value in values))
        assert answer.status_code < 500, (method, path, name, answer.text)
        if answer.is_error:
            assert isinstance(answer.json()["detail"], str) or path == "/auth/init"


@pytest.mark.parametrize("name", ["mode", "board", "file"])
async def test_a_field_of_a_form_that_comes_twice(door: Door, world: World, name: str) -> None:
    await world.board()
    parts: list[tuple[str, Any]] = [
        ("file", ("a.py", CORRECT)),
        ("mode", (None, "test")),
        ("board", (None, "sort")),
    ]
    parts += [part for part in parts if part[0] == name]
    answer = await door.ada.post("/api/v1/submissions", files=parts)
    assert answer.status_code < 500


@pytest.mark.parametrize("header", ["Authorization", "X-Popcorn-Cli-Id", "X-Web-Auth-Id"])
async def test_a_token_that_comes_twice_opens_nothing_new(door: Door, header: str) -> None:
    headers = [(header, "Bearer kb_nope"), (header, "Bearer kb_nope")]
    answer = await door.stranger.get("/api/v1/users/me", headers=headers)
    assert 401 == answer.status_code
