"""Logging in as browsers do, against providers that speak OAuth."""

import asyncio
import ssl
import threading
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from kernelbot.accounts.logins.model import Registration
from kernelbot.accounts.tokens.model import TokenKind
from kernelbot.domain.errors import NotAuthenticated
from kernelbot.schemas.errors import ErrorBody
from tests.accounts.site import Site, csrf_of, opened
from tests.support.world import World


@pytest.mark.parametrize("provider", ["github", "discord"])
async def test_somebody_new_gets_an_account(site: Site, provider: str) -> None:
    site.providers[provider].person = (7, "grace")
    browser = await site.browser()
    await site.log_in(browser, provider)
    assert "grace" == await site.me(browser)


async def test_the_same_person_gets_the_same_account(site: Site) -> None:
    site.providers["github"].person = (7, "grace")
    first, second = await site.browser(), await site.browser()
    await site.log_in(first)
    site.providers["github"].person = (7, "renamed")
    await site.log_in(second)
    assert "grace" == await site.me(second)


async def test_the_address_that_people_guess_leads_to_the_login_page(site: Site) -> None:
    browser = await site.browser()
    page = await browser.get("/login", follow_redirects=True)
    assert (200, "/auth/login") == (page.status_code, page.url.path)


async def test_the_certificates_of_authorities_are_read_once(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, create = [], ssl.create_default_context

    def counted(*arguments: Any, **options: Any) -> ssl.SSLContext:
        read.append(threading.current_thread())
        return create(*arguments, **options)

    browsers = [await site.browser() for _ in range(2)]
    links = [await site.callback(browser, "github") for browser in browsers]
    monkeypatch.setattr("ssl.create_default_context", counted)
    answers = [await one.get(link) for one, link in zip(browsers, links, strict=True)]
    assert [303, 303] == [answer.status_code for answer in answers]
    (reader,) = read
    assert reader is not threading.main_thread()  # which answers others meanwhile


async def test_the_same_number_at_two_providers_is_two_people(site: Site) -> None:
    site.providers["github"].person = (7, "grace")
    site.providers["discord"].person = (7, "hedy")
    first, second = await site.browser(), await site.browser()
    await site.log_in(first, "github")
    await site.log_in(second, "discord")
    assert ("grace", "hedy") == (await site.me(first), await site.me(second))


async def test_a_name_that_is_taken_gets_a_number(site: Site) -> None:
    browser = await site.browser()  # the world has an ada already, with no identity
    await site.log_in(browser)
    assert "ada-2" == await site.me(browser)


@pytest.mark.parametrize("name", ["\x00\x1b[31m", "  ", "x" * 500, "a'; echo x"])
async def test_hostile_names_are_made_fit(site: Site, name: str) -> None:
    site.providers["github"].person = (7, name)
    browser = await site.browser()
    await site.log_in(browser)
    assert 1 <= len(await site.me(browser)) <= 64


async def test_a_callback_replayed_is_refused(site: Site) -> None:
    browser = await site.browser()
    link = await site.callback(browser, "github")
    first, second = await browser.get(link), await browser.get(link)
    assert (303, 400) == (first.status_code, second.status_code)


async def test_of_a_callback_sent_many_times_at_once_one_logs_in(site: Site) -> None:
    browser = await site.browser()
    link = await site.callback(browser, "github")
    secret = dict(browser.cookies)
    browsers = [await site.browser() for _ in range(8)]
    for one in browsers:
        one.cookies.update(secret)
    answers = await asyncio.gather(*(one.get(link) for one in browsers))
    assert {303: 1, 400: 7} == Counter(answer.status_code for answer in answers)


@pytest.mark.exhaustive  # each run has test_somebody_new_gets_an_account
async def test_somebody_new_who_logs_in_twice_at_once_is_one_account(site: Site) -> None:
    site.providers["github"].person = (7, "grace")
    browsers = [await site.browser() for _ in range(6)]
    links = [await site.callback(browser, "github") for browser in browsers]
    await asyncio.gather(*(b.get(link) for b, link in zip(browsers, links, strict=True)))
    assert {"grace"} == {await site.me(browser) for browser in browsers}


async def test_an_invite_that_no_database_holds_is_none(site: Site) -> None:
    browser = await site.browser()
    assert 303 == (await browser.get("/auth/start/github?invite=a%00b")).status_code


async def test_a_callback_in_another_browser_is_refused(site: Site) -> None:
    attacker, victim = await site.browser(), await site.browser()
    link = await site.callback(attacker, "github")
    await victim.get("/auth/start/github")  # so that it holds a secret, of another login
    answer = await victim.get(link)
    assert (400, None) == (answer.status_code, victim.cookies.get("kernelbot_session"))


async def test_a_refused_browser_does_not_use_the_state_up(site: Site) -> None:
    owner, other = await site.browser(), await site.browser()
    link = await site.callback(owner, "github")
    await other.get(link)
    assert 303 == (await owner.get(link)).status_code


@pytest.mark.parametrize(
    "state", ["", "x", "eyJjbGlfaWQiOiJhIiwiaXNfcmVzZXQiOmZhbHNlfQ", "%00", "a" * 900]
)
async def test_a_foreign_state_is_refused(site: Site, state: str) -> None:
    browser = await site.browser()
    code = httpx.URL(await site.callback(browser, "github")).params["code"]
    answer = await browser.get(f"/auth/cli/github?code={code}&state={state}")
    assert 400 == answer.status_code


async def test_a_state_of_the_other_provider_is_refused(site: Site) -> None:
    browser = await site.browser()
    link = await site.callback(browser, "github")
    answer = await browser.get(link.replace("/cli/github", "/cli/discord"))
    assert 400 == answer.status_code


async def test_a_state_that_is_too_old_is_refused(site: Site, world: World) -> None:
    browser = await site.browser()
    link = await site.callback(browser, "github")
    async with world.database.write() as session:
        await session.do("UPDATE login_attempts SET expires_at = now()")
    assert 400 == (await browser.get(link)).status_code


@pytest.mark.parametrize("provider", ["github", "discord"])
async def test_a_made_up_code_is_refused(site: Site, provider: str) -> None:
    browser = await site.browser()
    link = httpx.URL(await site.callback(browser, provider))
    answer = await browser.get(str(link.copy_set_param("code", "made-up")))
    assert 400 == answer.status_code


async def test_a_provider_that_is_down_is_reported(site: Site) -> None:
    browser = await site.browser()
    link = await site.callback(browser, "github")
    site.providers["github"].down = True
    answer = await browser.get(link)
    assert (503, True) == (answer.status_code, "can&#39;t confirm" in answer.text)


async def test_saying_no_is_reported(site: Site) -> None:
    browser = await site.browser()
    answer = await browser.get("/auth/cli/github?error=access_denied&state=x")
    assert 400 == answer.status_code


async def test_programs_get_the_error_as_json(site: Site) -> None:
    browser = await site.browser()
    answer = await browser.get(
        "/auth/cli/github?code=x&state=x", headers={"Accept": "application/json"}
    )
    assert set(ErrorBody.__dataclass_fields__) == set(answer.json())


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil", "/a\r\nb"])
async def test_a_login_leads_nowhere_else(site: Site, target: str) -> None:
    browser = await site.browser()
    answer = await site.log_in(browser, "github", next=target)
    assert "/auth/account" == answer.headers["location"]


async def test_cookies_are_kept_from_scripts_and_other_sites(site: Site) -> None:
    answer = await site.log_in(await site.browser())
    session = next(
        cookie
        for cookie in answer.headers.get_list("set-cookie")
        if cookie.startswith("kernelbot_session=kb_")
    )
    assert (True, True) == ("HttpOnly" in session, "SameSite=lax" in session)


async def test_the_session_cookie_opens_no_api(site: Site) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    assert 401 == (await browser.get("/api/v1/users/me")).status_code


async def test_logging_out_ends_the_session_everywhere(site: Site) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    token = browser.cookies["kernelbot_session"]
    csrf = csrf_of(await browser.get("/auth/account"))
    await browser.post("/auth/logout", data={"csrf": csrf})
    with pytest.raises(NotAuthenticated):
        await site.services.users.authenticate(token, TokenKind.SESSION)


@pytest.mark.parametrize("registration", [Registration.CLOSED, Registration.INVITE])
async def test_nobody_new_comes_in_uninvited(world: World, registration: Registration) -> None:
    async with AsyncExitStack() as stack:
        site = await opened(world, stack, registration)
        assert 403 == (await site.log_in(await site.browser())).status_code


async def test_an_invite_opens_the_door_and_its_boards(world: World) -> None:
    await world.board()
    invites = await world.services.invites.create(world.admin.user, ("sort",))
    async with AsyncExitStack() as stack:
        site = await opened(world, stack, Registration.INVITE)
        browser = await site.browser()
        await site.log_in(browser, "github", invite=invites.codes[0])
        assert "ada-2" == await site.me(browser)


async def test_of_two_who_register_with_one_invite_at_once_one_does(world: World) -> None:
    await world.board()
    code = (await world.services.invites.create(world.admin.user, ("sort",))).codes[0]
    async with AsyncExitStack() as stack:
        site = await opened(world, stack, Registration.INVITE)
        browsers, links = [await site.browser() for _ in range(2)], []
        for number, browser in enumerate(browsers):
            site.providers["github"].person = (number, f"guest{number}")
            path = f"/auth/start/github?invite={code}"
            links.append(await site.callback(browser, "github", path))
        answers = await asyncio.gather(
            *(browser.get(link) for browser, link in zip(browsers, links, strict=True))
        )
        everyone = await world.services.users.list_users(world.admin.user)
    assert ([303, 400], 4) == (sorted(a.status_code for a in answers), len(everyone))


async def test_a_used_invite_makes_no_account(world: World) -> None:
    await world.board()
    code = (await world.services.invites.create(world.admin.user, ("sort",))).codes[0]
    await world.services.invites.join(world.ada.user, code)
    async with AsyncExitStack() as stack:
        site = await opened(world, stack, Registration.INVITE)
        answer = await site.log_in(await site.browser(), "github", invite=code)
        everyone = await world.services.users.list_users(world.admin.user)
    assert (400, ["root", "ada", "bob"]) == (answer.status_code, [u.name for u in everyone])


async def test_logins_are_counted_whichever_way_they_begin(site: Site) -> None:
    browser = await site.browser()
    for _ in range(300):
        site.app.state.attempts.count("127.0.0.1")
    answers = [
        await browser.get("/auth/start/github"),
        await browser.post("/auth/login", data={"token": "x"}),
        await browser.post("/auth/device", data={"code": "x"}),
        await browser.post("/auth/token", data={"name": "x"}),
        await browser.post("/auth/link/github"),
        await browser.post("/api/v1/device-logins"),
        await browser.post("/api/v1/login-links"),
        await browser.get("/auth/open?link=x"),
        await browser.post("/auth/open", data={"link": "x"}),
    ]
    assert [429] * 9 == [answer.status_code for answer in answers]
    assert [True] * 9 == [0 < int(answer.headers["retry-after"]) <= 60 for answer in answers]


async def test_an_unknown_provider_is_not_found(site: Site) -> None:
    assert 404 == (await (await site.browser()).get("/auth/start/myspace")).status_code
