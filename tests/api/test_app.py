from collections.abc import AsyncIterator

import psycopg
import pytest
import structlog
from structlog.testing import capture_logs

from kernelbot.api import middleware
from kernelbot.api.app import create_app
from kernelbot.api.settings import ApiSettings
from kernelbot.schemas.errors import ErrorBody
from kernelbot.server.wiring import open_services
from kernelbot.store.timeouts import DatabaseTimeouts
from tests.support.applications import application
from tests.support.door import Door, client_of
from tests.support.world import DEVICES, World, open_world


async def pieces(size_bytes: int) -> AsyncIterator[bytes]:
    yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\n'
    for _ in range(size_bytes >> 16):
        yield b"x" * (1 << 16)


WAYS_IN: list[dict[str, list[str]]] = [{"HTTPBearer": []}, {"WebAuth": []}, {"CliAuth": []}]


@pytest.mark.exhaustive  # each run has test_a_crash_of_ours_is_told_without_its_details
@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("get", "/api/v1/submissions", WAYS_IN),
        ("get", "/api/v1/boards", [*WAYS_IN, {}]),
        ("post", "/api/v1/device-logins", None),
        ("get", "/health", None),
    ],
)
async def test_the_document_says_how_a_token_is_sent(
    door: Door, method: str, path: str, expected: list[dict[str, list[str]]] | None
) -> None:
    document = (await door.stranger.get("/openapi.json")).json()
    assert expected == document["paths"][path][method].get("security")
    assert {"HTTPBearer", "WebAuth", "CliAuth"} <= document["components"]["securitySchemes"].keys()


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/nothing", (404, "not_found")),
        ("GET", "/api/v1", (404, "not_found")),
        ("GET", "/api/v1/boards/a/b/c", (404, "not_found")),
        ("PUT", "/api/v1/boards", (405, "method_not_allowed")),
        ("DELETE", "/health", (405, "method_not_allowed")),
        ("BREW", "/health", (405, "method_not_allowed")),
        ("GET", "/api/v1/users/me", (401, "not_authenticated")),
        ("GET", "/api/v1/submissions", (401, "not_authenticated")),
        ("POST", "/api/v1/submissions", (401, "not_authenticated")),
    ],
)
async def test_every_error_has_a_sentence_and_a_word(
    door: Door, method: str, path: str, expected: tuple[int, str]
) -> None:
    answer = await door.stranger.request(method, path)
    body = answer.json()
    assert (*expected, set(ErrorBody.__dataclass_fields__), str) == (
        answer.status_code,
        body["code"],
        set(body),
        type(body["detail"]),
    )


async def test_a_crash_of_ours_is_told_without_its_details(door: Door) -> None:
    @door.app.get("/crash")
    async def crash() -> None:
        raise ZeroDivisionError("a secret")

    answer = await door.stranger.get("/crash")
    assert (500, "internal_error", False) == (
        answer.status_code,
        answer.json()["code"],
        "secret" in answer.text,
    )


async def test_a_refused_method_names_those_that_are_not(door: Door) -> None:
    answer = await door.stranger.put("/health")
    assert "GET" == answer.headers["allow"]


@pytest.mark.parametrize(("path", "status"), [("/health", 200), ("/nothing", 404)])
async def test_a_head_is_a_get_without_its_body(door: Door, path: str, status: int) -> None:
    whole, head = await door.stranger.get(path), await door.stranger.head(path)
    assert (status, b"") == (head.status_code, head.content)
    assert whole.headers["content-type"] == head.headers["content-type"]


async def test_doubled_slashes_are_taken_for_one(door: Door) -> None:
    answer = await door.stranger.get("http://test//api//v1///boards")
    assert (200, {"boards": []}) == (answer.status_code, answer.json())


@pytest.mark.parametrize("path", ["/api/v1/users", "/api/v1/submissions", "/api/v1/nothing"])
async def test_an_endless_body_is_not_read_to_its_end(door: Door, path: str) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = await door.ada.post(path, content=pieces(4 << 20), headers=headers)
    expected = (404, "not_found") if path.endswith("nothing") else (413, "body_too_large")
    assert expected == (answer.status_code, answer.json()["code"])


async def test_a_body_that_is_announced_too_large_is_refused_unread(door: Door) -> None:
    answer = await door.ada.post("/api/v1/users", content=b"x" * ((1 << 20) + 1))
    assert (413, "body_too_large") == (answer.status_code, answer.json()["code"])


@pytest.mark.parametrize(
    ("path", "kind", "more", "status"),
    [
        ("/api/v1/device-logins/poll", "application/json", 0, 422),
        ("/api/v1/device-logins/poll", "application/json", 1, 413),
        ("/api/v1/submissions", "application/x-www-form-urlencoded", 1, 413),
        ("/api/v1/submissions", "Multipart/Form-Data; boundary=x", 1, 400),
    ],
)
async def test_what_holds_no_file_is_a_quarter_as_long(
    door: Door, path: str, kind: str, more: int, status: int
) -> None:
    body = b'{"a":0' + b" " * ((256 << 10) - 7 + more) + b"}"
    answer = await door.stranger.post(path, content=body, headers={"Content-Type": kind})
    assert status == answer.status_code


@pytest.mark.parametrize("header", ["Authorization", "X-Popcorn-Cli-Id", "X-Web-Auth-Id"])
async def test_a_token_may_come_in_three_ways(door: Door, header: str) -> None:
    token = door.world.ada.token
    value = f"Bearer {token}" if header == "Authorization" else token
    answer = await door.stranger.get("/api/v1/users/me", headers={header: value})
    assert (200, "ada") == (answer.status_code, answer.json()["name"])


@pytest.mark.parametrize("token", ["wrong", "a'; echo x", "x" * 5000, "\x00", "ü"])
@pytest.mark.parametrize("path", ["/api/v1/users/me", "/api/v1/boards"])
async def test_a_wrong_token_is_never_a_stranger(door: Door, token: str, path: str) -> None:
    headers = {b"X-Popcorn-Cli-Id": token.encode()}
    answer = await door.stranger.get(path, headers=headers)
    assert (401, "Bearer") == (answer.status_code, answer.headers["www-authenticate"])


@pytest.mark.parametrize(
    "path", ["/leaderboards", "/user/submissions", "/api/v1/boards", "/api/v1/users/me", "/nothing"]
)
async def test_no_cache_gives_an_answer_to_somebody_else(door: Door, path: str) -> None:
    """Who asks may be in a header that no cache knows."""
    headers = {"X-Popcorn-Cli-Id": door.world.ada.token}
    answer = await door.stranger.get(path, headers=headers)
    assert ["no-store"] == answer.headers.get_list("cache-control")


async def test_an_answer_that_says_how_long_it_may_be_kept_is_kept_so_long(door: Door) -> None:
    await door.world.board()
    answer = await door.stranger.get("/api/v1/boards/sort/standings.csv")
    assert ["private, max-age=60"] == answer.headers.get_list("cache-control")


async def test_an_admin_makes_accounts(door: Door) -> None:
    made = (await door.admin.post("/api/v1/users", json={"name": "eve"})).json()
    headers = {"Authorization": f"Bearer {made['token']}"}
    answer = await door.stranger.get("/api/v1/users/me", headers=headers)
    assert (made["id"], "eve", "competitor") == tuple(
        answer.json()[key] for key in ("id", "name", "role")
    )


async def test_a_competitor_makes_none(door: Door) -> None:
    answer = await door.ada.post("/api/v1/users", json={"name": "eve"})
    assert (403, "not_allowed") == (answer.status_code, answer.json()["code"])


@pytest.mark.parametrize(
    ("name", "status"), [("ada", 409), ("", 422), ("a\x00", 422), ("x" * 1000, 422), (3, 422)]
)
async def test_names_that_nobody_can_have(door: Door, name: object, status: int) -> None:
    answer = await door.admin.post("/api/v1/users", json={"name": name})
    assert status == answer.status_code


async def test_devices_say_how_busy_they_are(door: Door) -> None:
    answer = await door.stranger.get("/api/v1/devices")
    assert [("CPU", 0, 0), ("H100", 0, 0)] == [
        (device["name"], device["queued"], device["running"]) for device in answer.json()["devices"]
    ]


async def test_the_process_is_well(door: Door) -> None:
    answer = await door.stranger.get("/health")
    assert (200, "ok") == (answer.status_code, answer.json()["status"])


async def test_readiness_tells_of_each_part(door: Door) -> None:
    answer = await door.stranger.get("/ready")
    body = answer.json()
    assert (answer.status_code == 200, True) == (body["ready"], "database" in answer.text)


async def test_reads_are_ready_without_a_worker_and_judging_is_not(door: Door) -> None:
    reads = await door.stranger.get("/ready")
    judging = await door.stranger.get("/ready/judging")
    assert (200, True, False) == (
        reads.status_code,
        reads.json()["ready"],
        reads.json()["judging"],
    )
    assert (503, reads.json()) == (judging.status_code, judging.json())


async def test_requests_are_measured_by_route(door: Door) -> None:
    await door.world.board()
    await door.stranger.get("/api/v1/boards/sort")
    await door.stranger.get("/anything/at/all")
    text = (await door.stranger.get("/metrics")).text
    assert (True, True, False) == (
        'route="show_board",status="200"' in text,
        'route="unmatched",status="404"' in text,
        "anything" in text,
    )


@pytest.mark.parametrize(
    ("given", "kept"), [("abc-1", True), ("a b", False), ("x" * 65, False), ("", False)]
)
async def test_a_request_keeps_its_id_if_it_is_one(door: Door, given: str, kept: bool) -> None:
    answer = await door.stranger.get("/health", headers={"X-Request-ID": given})
    assert kept == (answer.headers["x-request-id"] == given)


async def test_a_database_that_is_gone_is_our_fault(database_url: str) -> None:
    async with open_world(database_url) as world:
        app = create_app(world.services)
    async with client_of(app, world.ada) as ada:
        answer = await ada.get("/api/v1/users/me")
    assert (503, "unavailable") == (answer.status_code, answer.json()["code"])


@pytest.mark.parametrize("path", ["/api/v1/boards", "/api/v1/sync", "/api/v1/sync/archive"])
@pytest.mark.parametrize("token", ["", "Bearer kb_nope"])
async def test_a_large_body_of_somebody_unknown_is_not_read(
    door: Door, path: str, token: str
) -> None:
    sent = []

    async def counted() -> AsyncIterator[bytes]:
        async for piece in pieces(1 << 20):
            sent.append(len(piece))
            yield piece

    headers = {"Content-Type": "multipart/form-data; boundary=x", "Authorization": token}
    answer = await door.stranger.post(path, content=counted(), headers=headers)
    assert (401, []) == (answer.status_code, sent)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/api/v1/invites/ABCDE-FGHJK"),
        ("GET", "/api/v1/invites/ABCDE-FGHJK"),
        ("DELETE", "http://test//api/v1//Invites/ABCDE%2DFGHJK/"),
    ],
)
async def test_no_log_line_holds_an_invite(
    door: Door, method: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with capture_logs() as lines:
        monkeypatch.setattr(middleware, "log", structlog.get_logger())
        await door.ada.request(method, path)
    told = [line["path"] for line in lines if line["event"] == "request"]
    assert 1 == len(told)
    assert "ABCDE" not in told[0]


@pytest.mark.parametrize("path", ["/api/v1/boards", "/leaderboards"])
async def test_what_the_database_has_ended_may_be_asked_again(world: World, path: str) -> None:
    limits = DatabaseTimeouts(locked_s=0.05)
    async with open_services(world.database.url, DEVICES, limits=limits) as core:
        app = application(create_app, core.services, ApiSettings())
        async with client_of(app, world.ada) as ada:
            with psycopg.connect(world.database.url) as other:
                other.execute("LOCK TABLE leaderboards")
                refused = await ada.get(path)
            again = await ada.get(path)
    assert (503, "5", "unavailable", 200) == (
        refused.status_code,
        refused.headers["retry-after"],
        refused.json()["code"],
        again.status_code,
    )
