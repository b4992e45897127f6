"""What all pages have in common: errors, headers, static files."""

import re

import httpx
import pytest

from kernelbot.domain.errors import TooManyRequests
from kernelbot.web.session import SESSION
from kernelbot.web.site import create_site
from tests.support.world import open_world
from tests.web.conftest import Front, browser_of

JSON = {"Accept": "application/json"}


async def test_what_is_not_there_is_a_page_for_browsers_and_json_for_programs(
    front: Front,
) -> None:
    for path in ("/nothing", "/board/nothing", "/board/..%2f..", "/static/x/site.css"):
        page = await front.stranger.get(path)
        answer = await front.stranger.get(path, headers=JSON)
        assert (404, True) == (page.status_code, "There is nothing here" in page.text)
        assert (404, {"detail", "code"}) == (answer.status_code, set(answer.json()))


async def test_the_apis_own_paths_answer_json_to_browsers_too(front: Front) -> None:
    answer = await front.stranger.get("/api/v1/nothing")
    assert {"detail", "code"} == set(answer.json())


async def test_a_crash_of_ours_is_a_page_without_its_details(front: Front) -> None:
    @front.app.get("/crash")
    async def crash() -> None:
        raise ZeroDivisionError("a secret")

    answer = await front.stranger.get("/crash")
    assert (500, False) == (answer.status_code, "secret" in answer.text)
    assert "broke on our side" in answer.text


async def test_too_many_requests_say_when_to_come_back(front: Front) -> None:
    @front.app.get("/busy")
    async def busy() -> None:
        raise TooManyRequests("You did that often.", retry_after_s=7)

    answer = await front.stranger.get("/busy")
    assert (429, "7") == (answer.status_code, answer.headers["retry-after"])
    assert "Try again in 7 s." in answer.text


async def test_a_database_that_is_away_is_a_page_too(database_url: str) -> None:
    async with open_world(database_url) as world:
        app, token = create_site(world.services), world.ada
    async with browser_of(app, token) as browser:
        answers = [await browser.get(path) for path in ("/", "/nothing", "/auth/login")]
    assert [(503, True), (404, True), (503, True)] == [
        (answer.status_code, "<h1>" in answer.text) for answer in answers
    ]


async def test_every_page_loads_from_here_alone(front: Front) -> None:
    for path in ("/", "/auth/login", "/auth/account", "/nothing", "/docs"):
        browser = front.stranger if path == "/auth/login" else front.ada
        answer = await browser.get(path)
        policy = answer.headers["content-security-policy"]
        assert ("default-src 'none';", False) == (policy[:19], "unsafe" in policy)
        assert "frame-ancestors 'none'" in policy
        assert "nosniff" == answer.headers["x-content-type-options"]
        assert [] == re.findall(r'(?:src|href|action)="(?:https?:)?//[^"]*"', answer.text)
        assert [] == re.findall(
            r"<style|<script(?! src)|\sstyle=|\son\w+=|javascript:", answer.text
        )


async def test_static_files_are_kept_for_ever_under_an_address_of_their_content(
    front: Front,
) -> None:
    page = (await front.stranger.get("/")).text
    paths = set(re.findall(r'"(/static/[^"]+)"', page))
    answers = [await front.stranger.get(path) for path in sorted(paths)]
    assert [(200, True)] * 3 == [
        (one.status_code, "immutable" in one.headers["cache-control"]) for one in answers
    ]


async def test_what_is_personal_is_not_kept(front: Front) -> None:
    assert "no-store" == (await front.ada.get("/")).headers["cache-control"]


async def test_a_revoked_session_is_a_stranger(front: Front) -> None:
    await front.world.services.users.sign_out(front.world.ada.token)
    shown = await front.ada.get("/")
    account = await front.ada.get("/auth/account")
    assert (200, True) == (shown.status_code, "Log in" in shown.text)
    assert (303, "/auth/login?next=%2Fauth%2Faccount") == (
        account.status_code,
        account.headers["location"],
    )


async def log_in(browser: httpx.AsyncClient, token: str, **form: str) -> httpx.Response:
    page = await browser.get("/auth/login")
    csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
    assert csrf is not None
    return await browser.post("/auth/login", data={"csrf": csrf[1], "token": token, **form})


async def test_a_token_logs_in_with_a_session_of_its_own(front: Front) -> None:
    browser = await front.browser()
    answer = await log_in(browser, f" {front.world.ada.token}\n", next="/board/x")
    assert (303, "/board/x") == (answer.status_code, answer.headers["location"])
    assert front.world.ada.token != browser.cookies[SESSION]
    assert "You are <bdi>ada</bdi>" in (await browser.get("/auth/account")).text


@pytest.mark.parametrize("token", ["", "kb_nope", "x" * 900, "é\x00"])
async def test_a_wrong_token_logs_nobody_in(front: Front, token: str) -> None:
    browser = await front.browser()
    assert (401, None) == (
        (await log_in(browser, token)).status_code,
        browser.cookies.get(SESSION),
    )


async def test_a_login_form_from_another_site_is_refused(front: Front) -> None:
    answer = await front.stranger.post(
        "/auth/login", data={"token": front.world.ada.token, "csrf": "0" * 64}
    )
    assert (403, None) == (answer.status_code, answer.cookies.get(SESSION))


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example"])
async def test_a_login_with_a_token_leads_nowhere_else(front: Front, target: str) -> None:
    browser = await front.browser()
    answer = await log_in(browser, front.world.ada.token, next=target)
    assert "/auth/account" == answer.headers["location"]
