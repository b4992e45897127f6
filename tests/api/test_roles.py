"""Every route, asked by everybody on an open and on a closed board: who is answered what."""

import asyncio
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from kernelbot.api.app import create_app
from kernelbot.api.settings import ApiSettings
from kernelbot.boards.model import Visibility
from kernelbot.boards.schemas import problem_to_wire
from kernelbot.services import Services
from tests.support.applications import application
from tests.support.exhaustive import cases
from tests.support.live import ADMIN_TOKEN
from tests.support.problems import sort_problem
from tests.support.stages import Asker, Cast, Stage, set_stages
from tests.support.world import World

TABLE = Path(__file__).with_name("roles.txt")
"""A line for each route and kind of board, `any` if no board is asked for: the statuses, by the
columns that its first line names. What is refused for lack of something else (400, 409) was
allowed: so that asking changes little, most of what is asked for can't be done."""
_FILE = {"file": ("x.py", b"print()\n")}
_REASON = {"reason": "because"}


@dataclass(frozen=True)
class Ask:
    """What is sent along. Texts are filled in from the stage."""

    things: dict[str, str] = field(default_factory=dict)
    """What a name in the path means here, if not what it says."""
    query: str = ""
    json: Any = None
    form: dict[str, str] | None = None
    files: dict[str, tuple[str, bytes]] | None = None


_UNOFFERED = {"device": "H100", "mode": "test"}
"""The last thing that is checked of a submission is whether the board offers the device."""
_BOARDS = {"leaderboards": ["{board}"]}
_JOB = {"job_id": "1.1.0123456789ab"}
_LINK = "expires=4000000000&signature=nobodys"
"""Who has a token needs a link all the same."""
ASKS = {
    "POST /api/v1/submissions": Ask(
        form={"board": "{board}", "device": "H100", "mode": "test"}, files=_FILE
    ),
    "GET /api/v1/submissions": Ask(query="board={board}"),
    "DELETE /api/v1/submissions/{submission_id}": Ask({"submission_id": "{spare}"}),
    "POST /api/v1/submissions/{submission_id}/release": Ask(json=_REASON),
    "POST /api/v1/submissions/{submission_id}/refuse": Ask(
        {"submission_id": "{refused}"}, json=_REASON
    ),
    "GET /api/v1/jobs/{job_id}/payload": Ask(_JOB, query=_LINK),
    "POST /api/v1/jobs/{job_id}/events": Ask(_JOB, query=_LINK),
    "GET /api/v1/harness/{sha256}": Ask({"sha256": "0" * 64}),
    "POST /api/v1/boards": Ask(
        json={"name": "{board}", "problem": problem_to_wire(sort_problem("sort"))}
    ),
    "PATCH /api/v1/boards/{board}": Ask(json={"reveal_code": False}),
    "DELETE /api/v1/boards/{board}/submissions": Ask(query="user=no-such-user"),
    "POST /api/v1/boards/{board}/rejudges": Ask(json={}),
    "POST /api/v1/invites": Ask(json={"boards": ["{board}"]}),
    "POST /api/v1/invites/join": Ask(json={"code": "NO-SUCH-CODE"}),
    "PUT /api/v1/boards/{board}/limits/{category}": Ask(json={"max_per_hour": 1000}),
    "GET /api/v1/reviews": Ask(query="board={board}"),
    "POST /api/v1/sync": Ask(json={}),
    "POST /api/v1/sync/archive": Ask(files={"file": ("x.tar.gz", b"no archive")}),
    "GET /api/v1/stats": Ask(query="board={board}"),
    "GET /api/v1/exports": Ask(query="board={board}"),
    "POST /api/v1/exports/hub": Ask(json={"boards": ["{board}"], "name": "x.parquet"}),
    "GET /api/v1/authors": Ask(query="name=no-such-author"),
    "PUT /api/v1/users/me/author-page": Ask(json={"private": False}),
    "PUT /api/v1/submissions/{submission_id}/link": Ask(json={}),
    "POST /api/v1/users": Ask(json={"name": "victim"}),
    "PUT /api/v1/users/{user_id}/role": Ask(json={"role": "competitor"}),
    "PUT /api/v1/users/{user_id}/ban": Ask(json=_REASON),
    "POST /api/v1/tokens": Ask(json={"name": "another"}),
    "GET /api/v1/webhooks": Ask(query="board={board}"),
    "POST /api/v1/webhooks": Ask(json={"url": "https://hooks.example/", "board": "{board}"}),
    "POST /api/v1/device-logins/poll": Ask(json={"device_code": "nobody's"}),
    "POST /api/v1/platform/pause": Ask(json=_REASON),
    "GET /user/submissions": Ask(query="leaderboard={board}"),
    "DELETE /user/submissions/{submission_id}": Ask({"submission_id": "{spare_of_popcorn}"}),
    "GET /auth/init": Ask(query="provider=github"),
    "POST /admin/leaderboards": Ask(json={"directory": "nowhere"}),
    "DELETE /admin/submissions/{submission_id}": Ask({"submission_id": "{spare_of_admin}"}),
    "DELETE /admin/submissions": Ask(query="leaderboard_id={board_id}&user_name=no-such-user"),
    "GET /admin/stats": Ask(query="leaderboard_name={board}"),
    "POST /admin/leaderboards/{board}/visibility": Ask(json={"visibility": "{visibility}"}),
    "PUT /admin/leaderboards/{board}/rate-limits": Ask(
        json={"mode_category": "test", "max_submissions_per_hour": 1000}
    ),
    "POST /admin/invites": Ask(json=_BOARDS),
    "DELETE /admin/invites/{code}": Ask({"code": "{other_code}"}),
    "POST /user/join": Ask(json={"code": "NO-SUCH-CODE"}),
    "POST /admin/update-problems": Ask(json={}),
    "POST /admin/export-hf": Ask(json={"leaderboard_ids": [1], "filename": "x.parquet"}),
    "POST /submission/{board}/{device}/{mode}": Ask(_UNOFFERED, files=_FILE),
    "POST /admin/submission/{board}/{device}/{mode}": Ask(_UNOFFERED, files=_FILE),
    "POST /{board}/{device}/{mode}": Ask(_UNOFFERED, files=_FILE),
}
_USUAL = {
    "author_id": "{user_id}",
    "submission_id": "{submission}",
    "device": "CPU",
    "category": "test",
    "mode_category": "test",
    "rejudge_id": "1",
    "token_id": "1",
    "webhook_id": "999999",
    "provider": "github",
    "subject": "nobody",
}
_VISIBILITY = {
    "open": Visibility.PUBLIC,
    "closed": Visibility.CLOSED,
    "any": Visibility.PUBLIC,
}
_OF_A_BOARD = ("{board", "{submission_id}", "{code}", "{run_id}")


def test_the_table_has_every_route() -> None:
    rows = [(route, kind) for route in _routes() for kind in _kinds(route)]
    assert rows == list(_column(Asker.NOBODY))


@pytest.mark.parametrize("asker", cases(Asker, always=[Asker.OTHER]))
async def test_the_answers_are_those_of_the_table(world: World, asker: Asker) -> None:
    people = await set_stages(world, asker)
    app = application(create_app, world.services, ApiSettings(admin_token=ADMIN_TOKEN))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    told = {}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://test", headers=_headers(people, asker)
    ) as client:
        for route in sorted(_routes(), key=_restoring_last):
            for kind in _kinds(route):
                told[route, kind] = await _ask(client, route, people.stages[_VISIBILITY[kind]])
    assert _compared(_column(asker)) == _compared(told)


@cache
def _routes() -> list[str]:
    """As the API's own document lists them, those of existing clients as well."""
    # The services are asked for nothing: routes are known without them.
    paths = create_app(cast(Services, None)).openapi()["paths"]
    return [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]


def _column(asker: Asker) -> dict[tuple[str, str], str]:
    """What the table says of one."""
    names, *rows = TABLE.read_text().splitlines()
    place = names.split().index(asker)
    cells = [row.split() for row in rows]
    return {(f"{row[0]} {row[1]}", row[2]): row[3 + place] for row in cells}


def _compared(statuses: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Exports are an extra: without it everybody who may have one is told so instead."""
    exports = importlib.util.find_spec("pyarrow") is not None
    return {row: told for row, told in statuses.items() if exports or "/export" not in row[0]}


def _headers(people: Cast, asker: Asker) -> dict[str, str]:
    if asker is Asker.NOBODY:
        return {}
    if asker is Asker.OPERATOR:
        token = people.tokens[Asker.ADMIN]
        return {"Authorization": f"Bearer {ADMIN_TOKEN}", "X-Popcorn-Cli-Id": token}
    return {"X-Popcorn-Cli-Id": people.tokens[asker]}


async def _ask(client: httpx.AsyncClient, route: str, stage: Stage) -> str:
    ask = ASKS.get(route, Ask())
    things = {**stage.things, "visibility": stage.visibility.value}

    def filled(text: str) -> str:
        return text.format_map(things)

    usual = {name: filled(text) for name, text in {**_USUAL, **ask.things}.items()}
    method, path = route.split(" ")
    body = None if ask.json is None else json.loads(_filled_json(ask.json, things))
    async with asyncio.timeout(60):
        answer = await client.request(
            method,
            path.format_map({**things, **usual}) + (f"?{filled(ask.query)}" if ask.query else ""),
            json=body,
            data=None if ask.form is None else {k: filled(v) for k, v in ask.form.items()},
            files=ask.files,
        )
    return str(answer.status_code)


def _filled_json(body: Any, things: dict[str, str]) -> str:
    text = json.dumps(body)
    for name, thing in things.items():
        text = text.replace(f"{{{name}}}", thing)
    return text


def _kinds(route: str) -> Iterator[str]:
    """Of which boards it is asked."""
    ask = ASKS.get(route, Ask())
    asked = " ".join([route, ask.query, json.dumps(ask.json), json.dumps(ask.form)])
    yield from ("open", "closed") if any(of in asked for of in _OF_A_BOARD) else ("any",)


def _restoring_last(route: str) -> int:
    """What is put is taken away after it: limits and bans come before their deletion, and a pause
    before its end."""
    return ("pause" in route or "stop" in route) + 2 * ("resume" in route or "start" in route)
