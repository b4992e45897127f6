"""Tokens, roles, bans, invites, limits, pauses and the log, as HTTP shows them."""

import asyncio
from collections import Counter

import httpx
import pytest
from fastapi import FastAPI

from kernelbot.accounts.model import NewToken
from kernelbot.api.app import create_app
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import NotAuthenticated
from tests.support.applications import application
from tests.support.door import Door, client_of
from tests.support.problems import CORRECT

ADMIN_TOKEN = "s3cret-grün-and-long-enough"


def upload(mode: str = "leaderboard", **fields: str) -> dict[str, object]:
    return {
        "files": {"file": ("fast.py", CORRECT)},
        "data": {"board": "sort", "mode": mode, **fields},
    }


async def post(client: httpx.AsyncClient, **fields: str) -> httpx.Response:
    return await client.post("/api/v1/submissions", **upload(**fields))  # type: ignore[arg-type]  # httpx's own types


async def test_a_token_is_made_used_and_revoked(door: Door) -> None:
    made = (await door.ada.post("/api/v1/tokens", json={"name": "laptop"})).json()
    laptop = client_of(door.app, NewToken(door.world.ada.user, made["token"]))
    before = await laptop.get("/api/v1/users/me")
    await door.ada.delete(f"/api/v1/tokens/{made['id']}")
    after = await laptop.get("/api/v1/users/me")
    assert (200, 401) == (before.status_code, after.status_code)


async def test_a_list_of_tokens_holds_no_text(door: Door) -> None:
    answer = await door.ada.get("/api/v1/tokens")
    fields = {"id", "kind", "name", "created_at", "expires_at", "parent_id"}
    assert fields == set(answer.json()["tokens"][0])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "users", None),
        ("GET", "audit", None),
        ("PUT", "users/1/role", {"role": "admin"}),
        ("PUT", "users/1/ban", {"reason": "no"}),
        ("DELETE", "users/1/ban", None),
        ("POST", "platform/pause", {"reason": "no"}),
        ("POST", "platform/resume", None),
        ("POST", "invites", {"boards": ["sort"], "count": 1}),
        ("GET", "boards/sort/invites", None),
        ("PATCH", "boards/sort", {"deadline": None}),
        ("PUT", "boards/sort/limits/test", {"max_per_hour": 1}),
        ("DELETE", "boards/sort/limits/test", None),
    ],
)
async def test_what_organisers_do_is_for_them(
    door: Door, method: str, path: str, body: dict[str, object] | None
) -> None:
    await door.world.board()
    answer = await door.ada.request(method, f"/api/v1/{path}", json=body)
    assert (403, "not_allowed") == (answer.status_code, answer.json()["code"])


async def test_a_banned_person_is_reported(door: Door) -> None:
    await door.world.board()
    await door.admin.put(f"/api/v1/users/{door.world.ada.user.id}/ban", json={"reason": "copied"})
    answer = await post(door.ada)
    assert (403, "banned") == (answer.status_code, answer.json()["code"])


async def test_a_pause_is_reported(door: Door) -> None:
    await door.world.board()
    await door.admin.post("/api/v1/platform/pause", json={"reason": "moving"})
    answer = await post(door.ada)
    message, hint = "Submissions are paused just now: moving.", "Try again later; nothing is lost."
    expected = {
        "detail": f"{message} {hint}",
        "code": "paused",
        "message": message,
        "next": None,
        "hint": hint,
    }
    assert (503, expected) == (answer.status_code, answer.json())


async def test_a_closed_category_says_so(door: Door) -> None:
    await door.world.board()
    await door.admin.put("/api/v1/boards/sort/limits/leaderboard", json={"max_per_hour": 0})
    answer = await post(door.ada)
    assert (429, "3600", True) == (
        answer.status_code,
        answer.headers["retry-after"],
        "takes no ranked submissions" in answer.json()["detail"],
    )


@pytest.mark.exhaustive
async def test_200_requests_at_once_are_counted_exactly(door: Door) -> None:
    await door.world.board()
    await door.admin.put("/api/v1/boards/sort/limits/leaderboard", json={"max_per_hour": 13})
    answers = await asyncio.gather(*(post(door.ada) for _ in range(200)))
    assert {201: 13, 429: 187} == Counter(answer.status_code for answer in answers)


async def test_an_invite_is_made_and_used(door: Door) -> None:
    await door.world.board()
    await door.admin.patch("/api/v1/boards/sort", json={"visibility": "closed"})
    hidden = await door.ada.get("/api/v1/boards/sort")
    made = await door.admin.post("/api/v1/invites", json={"boards": ["sort"]})
    await door.ada.post("/api/v1/invites/join", json={"code": made.json()["codes"][0]})
    shown = await door.ada.get("/api/v1/boards/sort")
    assert (404, 200) == (hidden.status_code, shown.status_code)


async def test_a_deadline_is_set_and_taken_away(door: Door) -> None:
    await door.world.board()
    at = "2020-01-01T00:00:00Z"
    over = await door.admin.patch("/api/v1/boards/sort", json={"deadline": at})
    gone = await door.admin.patch("/api/v1/boards/sort", json={"deadline": None})
    assert (at, None) == (over.json()["deadline"], gone.json()["deadline"])


async def test_admins_submit_late(door: Door) -> None:
    await door.world.board()
    await door.admin.patch("/api/v1/boards/sort", json={"deadline": "2020-01-01T00:00:00Z"})
    assert (403, 403, 201) == (
        (await post(door.admin)).status_code,
        (await post(door.ada, late="true")).status_code,
        (await post(door.admin, late="true")).status_code,
    )


async def test_the_log_is_read_in_pages(door: Door) -> None:
    for _ in range(3):
        await door.admin.post("/api/v1/platform/resume")
    first = (await door.admin.get("/api/v1/audit?limit=2")).json()
    before = first["next_before_id"]
    rest = (await door.admin.get(f"/api/v1/audit?limit=2&before_id={before}")).json()
    assert (2, 1, None) == (len(first["entries"]), len(rest["entries"]), rest["next_before_id"])


@pytest.fixture
def organiser(door: Door) -> httpx.AsyncClient:
    """A client with the ADMIN_TOKEN of another door to the same world."""
    app = application(create_app, door.world.services, ApiSettings(admin_token=ADMIN_TOKEN))
    client = client_of(app)
    client.headers = httpx.Headers([(b"Authorization", f"Bearer {ADMIN_TOKEN}".encode())])
    return client


async def test_the_admin_token_opens_what_admins_do(organiser: httpx.AsyncClient) -> None:
    assert 200 == (await organiser.get("/api/v1/users")).status_code


async def test_what_the_admin_token_does_has_a_name_in_the_log(
    organiser: httpx.AsyncClient,
) -> None:
    await organiser.post("/api/v1/platform/resume")
    newest = (await organiser.get("/api/v1/audit")).json()["entries"][0]
    assert "organiser" == newest["actor"]


@pytest.mark.exhaustive  # each run has test_a_pause_is_reported
async def test_a_token_made_with_the_admin_token_ends_with_it(
    organiser: httpx.AsyncClient, door: Door
) -> None:
    users = door.world.services.users
    made = (await organiser.post("/api/v1/tokens", json={"name": "ci"})).json()["token"]
    await users.admin_token_is(ADMIN_TOKEN)
    before = (await users.authenticate(made)).name
    await users.admin_token_is(None)
    with pytest.raises(NotAuthenticated):
        await users.authenticate(made)
    assert "organiser" == before


async def test_a_browsers_session_opens_no_api(door: Door) -> None:
    session = await door.world.services.logins.open_with(door.world.ada.token)
    for header in ("Authorization", "X-Popcorn-Cli-Id", "X-Web-Auth-Id"):
        sent = f"Bearer {session.token}" if header == "Authorization" else session.token
        answer = await door.stranger.get("/api/v1/users/me", headers={header: sent})
        assert 401 == answer.status_code


async def test_a_token_of_the_api_ends_with_the_one_that_made_it(door: Door) -> None:
    made = (await door.ada.post("/api/v1/tokens", json={"name": "child"})).json()
    listed = (await door.ada.get("/api/v1/tokens")).json()["tokens"]
    (first,) = [one["id"] for one in listed if one["name"] == "first"]
    await door.ada.delete(f"/api/v1/tokens/{first}")
    headers = {"Authorization": f"Bearer {made['token']}"}
    gone = await door.stranger.get("/api/v1/users/me", headers=headers)
    assert (first, 401) == (made["parent_id"], gone.status_code)


@pytest.mark.exhaustive  # each run has test_a_pause_is_reported
@pytest.mark.parametrize("path", ["/api/v1/users/me", "/admin/stats", "/user/submissions"])
async def test_who_tries_tokens_out_is_stopped_even_at_the_right_one(door: Door, path: str) -> None:
    settings = ApiSettings(admin_token=ADMIN_TOKEN)
    app = application(create_app, door.world.services, settings)
    client = client_of(app)
    counted_before = _failures(app)
    right = httpx.Headers([(b"Authorization", f"Bearer {ADMIN_TOKEN}".encode())])
    wrong = {"Authorization": "Bearer kb_wrong", "X-Popcorn-Cli-Id": "kb_wrong"}
    before = (await client.get("/api/v1/users", headers=right)).status_code
    tried = [(await client.get(path, headers=wrong)).status_code for _ in range(101)]
    after = await client.get("/api/v1/users", headers=right)
    own = await client.get(
        "/api/v1/users/me", headers={"Authorization": f"Bearer {door.world.ada.token}"}
    )
    assert ([401] * 100 + [429], 200, 429, 200) == (
        tried,
        before,
        after.status_code,
        own.status_code,
    )
    assert 0 < int(after.headers["retry-after"]) <= 60
    assert 101 == _failures(app) - counted_before


def _failures(app: FastAPI) -> float:
    """How many wrong tokens `/metrics` says that there were."""
    value = app.state.registry.get_sample_value("kernelbot_failed_authentications_total")
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize(
    ("public_url", "expected"),
    [("https://kernels.example", "max-age=31536000"), ("http://kernels.example", None)],
)
async def test_browsers_are_told_to_stay_with_https(
    door: Door, public_url: str, expected: str | None
) -> None:
    settings = ApiSettings(public_url=public_url)
    client = client_of(application(create_app, door.world.services, settings))
    answers = [await client.get(path) for path in ("/api/v1/boards", "/nothing", "/health")]
    assert [expected] * 3 == [one.headers.get("strict-transport-security") for one in answers]


@pytest.mark.parametrize("sent", ["", "s3cret", ADMIN_TOKEN + "x", "None"])
async def test_other_words_are_no_admin_token(door: Door, sent: str) -> None:
    app = application(create_app, door.world.services, ApiSettings(admin_token=ADMIN_TOKEN))
    headers = httpx.Headers([(b"Authorization", f"Bearer {sent}".encode())])
    answer = await client_of(app).get("/api/v1/users", headers=headers)
    assert 401 == answer.status_code


async def test_without_an_admin_token_an_empty_one_opens_nothing(door: Door) -> None:
    answer = await door.stranger.get("/api/v1/users", headers={"Authorization": "Bearer "})
    assert 401 == answer.status_code


async def test_a_text_that_cant_be_kept_is_named_in_plain_words(door: Door) -> None:
    answer = await door.admin.post("/api/v1/platform/pause", json={"reason": "a\x00"})
    assert (422, "reason (in the body): it holds a NUL character.") == (
        answer.status_code,
        answer.json()["detail"],
    )
