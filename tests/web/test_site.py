"""What all pages have in common: errors, headers, static files."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest

from kernelbot.accounts.tokens.model import TokenKind
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import NotAuthenticated, TooManyRequests
from kernelbot.schemas.errors import ErrorBody
from kernelbot.web.assets import Assets
from kernelbot.web.session import BROWSER, SESSION, csrf_of
from kernelbot.web.site import create_site
from tests.support.applications import application
from tests.support.front import Front, browser_of, csrf_for, session_of
from tests.support.world import open_world

JSON = {"Accept": "application/json"}


async def test_what_is_not_there_is_a_page_for_browsers_and_json_for_programs(
    front: Front,
) -> None:
    for path in ("/nothing", "/board/nothing", "/board/..%2f..", "/static/x/site.css"):
        page = await front.stranger.get(path)
        answer = await front.stranger.get(path, headers=JSON)
        assert (404, True) == (page.status_code, "There is nothing here" in page.text)
        assert (404, set(ErrorBody.__dataclass_fields__)) == (
            answer.status_code,
            set(answer.json()),
        )


async def test_the_apis_own_paths_answer_json_to_browsers_too(front: Front) -> None:
    answer = await front.stranger.get("/api/v1/nothing")
    assert set(ErrorBody.__dataclass_fields__) == set(answer.json())


async def test_what_to_do_next_is_a_link_to_the_page_that_it_speaks_of(front: Front) -> None:
    answer = await front.admin.get("/organise/people/4711")
    link = '<a href="/organise/people">The page People lists the accounts.</a>'
    assert (404, True) == (answer.status_code, link in answer.text)


# Each run has test_a_crash_of_ours_is_told_without_its_details (api/test_app.py)
@pytest.mark.exhaustive
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
        app, session = create_site(world.services), await session_of(world, world.ada)
    async with browser_of(app, session) as browser:
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
    assert [(200, True)] * 4 == [
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


async def test_a_login_page_that_is_left_open_still_logs_in(front: Front) -> None:
    browser = await front.browser()
    await browser.get("/auth/login")
    secret = browser.cookies[BROWSER]
    again = await browser.get("/auth/login")
    lasts = re.search(rf"{BROWSER}={secret}; .*Max-Age=(\d+)", again.headers["set-cookie"])
    assert lasts is not None
    assert 24 * 3600 == int(lasts[1])


async def test_a_second_login_ends_the_first_ones_session(front: Front) -> None:
    browser = await front.browser()
    page = await browser.get("/auth/login")
    csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
    secret = browser.cookies[BROWSER]
    assert csrf is not None
    first = (await log_in(browser, front.world.ada.token)).cookies[SESSION]
    browser.cookies.set(BROWSER, secret)
    data = {"csrf": csrf[1], "token": front.world.bob.token}
    second = (await browser.post("/auth/login", data=data)).cookies[SESSION]
    users = front.world.services.users
    with pytest.raises(NotAuthenticated):
        await users.authenticate(first, TokenKind.SESSION)
    assert "bob" == (await users.authenticate(second, TokenKind.SESSION)).name


async def test_a_token_in_the_cookie_is_no_session(front: Front) -> None:
    front.stranger.cookies.set(SESSION, front.world.ada.token)
    assert 303 == (await front.stranger.get("/auth/account")).status_code


async def test_by_https_no_other_host_can_set_our_cookies(front: Front) -> None:
    settings = ApiSettings(public_url="https://kernels.example")
    app = application(create_site, front.world.services, settings)
    session = await session_of(front.world, front.world.ada)
    async with browser_of(app) as browser:
        page = await browser.get("/auth/login")
        planted = await browser.get("/auth/account", headers={"Cookie": f"{SESSION}={session}"})
        own = {"Cookie": f"__Host-{SESSION}={session}"}
        account = await browser.get("/auth/account", headers=own)
        left = await browser.post("/auth/logout", data={"csrf": csrf_of(session)}, headers=own)
    kept = [answer.headers["set-cookie"] for answer in (page, left)]
    assert (303, 200, 303) == (planted.status_code, account.status_code, left.status_code)
    assert [f"__Host-{BROWSER}", f"__Host-{SESSION}"] == [one.partition("=")[0] for one in kept]
    wanted = {"httponly", "path=/", "samesite=lax", "secure"}
    for one in kept:
        assert wanted <= {part.strip().lower() for part in one.split(";")}
        assert "domain=" not in one.lower()


async def test_an_address_that_tries_many_tokens_is_stopped_at_the_login_too(
    front: Front,
) -> None:
    await front.stranger.get("/auth/login")
    form = {"csrf": csrf_of(front.stranger.cookies[BROWSER]), "token": "kb_wrong"}
    codes = [(await front.stranger.post("/auth/login", data=form)).status_code for _ in range(101)]
    assert [401] * 100 + [429] == codes


ADMIN_TOKEN = "grün-and-long-enough"  # this test's own


@pytest.fixture
async def organiser(front: Front) -> AsyncIterator[httpx.AsyncClient]:
    """A browser before a site with this ADMIN_TOKEN, by which it is logged in."""
    settings = ApiSettings(admin_token=ADMIN_TOKEN)
    app = application(create_site, front.world.services, settings)
    async with browser_of(app) as browser:
        answer = await log_in(browser, f" {ADMIN_TOKEN} ", next="/organise")
        assert (303, "/organise") == (answer.status_code, answer.headers["location"])
        yield browser


async def test_the_admin_token_opens_the_pages_under_a_name_in_the_log(
    front: Front, organiser: httpx.AsyncClient
) -> None:
    page = await organiser.get("/organise/people")
    newest = (await front.world.services.audit.list_entries(front.world.admin.user))[0]
    assert (200, "organiser", "session.open") == (page.status_code, newest.actor, newest.action)


async def test_what_the_admin_token_opened_and_made_ends_when_it_changes(
    front: Front, organiser: httpx.AsyncClient
) -> None:
    users = front.world.services.users
    page = await organiser.post("/auth/token", data={**csrf_for(organiser), "name": "ci"})
    made = re.search(r"kb_[\w-]{20,}", page.text)
    assert made is not None
    await users.admin_token_is(ADMIN_TOKEN)
    restarted = (await organiser.get("/organise")).status_code
    by_token = (await users.authenticate(made[0])).name
    await users.admin_token_is("another-one-that-is-long")
    with pytest.raises(NotAuthenticated):
        await users.authenticate(made[0])
    changed = (await organiser.get("/organise")).status_code
    assert (200, "organiser", 303) == (restarted, by_token, changed)


async def test_a_browser_that_the_admin_token_opened_is_closed_after_half_a_day(
    front: Front, organiser: httpx.AsyncClient
) -> None:
    user = await front.world.services.users.organiser()
    (session,) = await front.world.services.tokens.list_tokens(user)
    assert session.expires_at is not None
    lasts_s = (session.expires_at - session.created_at).total_seconds()
    assert (TokenKind.SESSION, 12 * 3600) == (session.kind, lasts_s)


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example"])
async def test_a_login_with_a_token_leads_nowhere_else(front: Front, target: str) -> None:
    browser = await front.browser()
    answer = await log_in(browser, front.world.ada.token, next=target)
    assert "/auth/account" == answer.headers["location"]


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br", "gzip"),
        ("br;q=1.0, GZIP;q=0.5", "gzip"),
        ("gzip; q=0, br", None),
        ("xgzip", None),
        ("identity", None),
    ],
)
async def test_static_files_are_compressed_for_who_takes_that(
    front: Front, accepted: str, encoding: str | None
) -> None:
    path = Assets().path("codemirror.js")
    plain = await front.stranger.get(path, headers={"Accept-Encoding": "identity"})
    found = await front.stranger.get(path, headers={"Accept-Encoding": accepted})
    assert (plain.content, encoding, "Accept-Encoding") == (
        found.content,
        found.headers.get("content-encoding"),
        found.headers["vary"],
    )
