"""The account page: identities, tokens and browsers, and deleting the account."""

import re
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from kernelbot.accounts.tokens.model import Credential, TokenKind
from kernelbot.domain.errors import NotAuthenticated
from tests.accounts.site import Site, csrf_of, post
from tests.support.world import World


async def test_an_account_is_linked_to_a_second_provider(site: Site) -> None:
    browser = await site.browser()
    site.providers["github"].person = (7, "grace")
    await site.log_in(browser)
    csrf = csrf_of(await browser.get("/auth/account"))
    started = await browser.post("/auth/link/discord", data={"csrf": csrf})
    async with httpx.AsyncClient(timeout=60) as real:
        agreed = await real.get(started.headers["location"])
    await browser.get(agreed.headers["location"])
    other = await site.browser()
    await site.log_in(other, "discord")
    assert "grace" == await site.me(other)


async def token_browser(site: Site, token: str) -> httpx.AsyncClient:
    """A browser that this token logged in."""
    browser = await site.browser()
    csrf = csrf_of(await browser.get("/auth/login"))
    await browser.post("/auth/login", data={"csrf": csrf, "token": token})
    return browser


@pytest.mark.parametrize(("days", "status"), [(None, 303), (3, 403)])
async def test_a_token_that_ends_links_no_identity(
    site: Site, world: World, days: int | None, status: int
) -> None:
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    made = await site.services.tokens.create(world.ada.user, "given", expires_at=expires_at)
    child = await site.services.tokens.create(
        world.ada.user, "child", made_with=Credential(made.token)
    )
    browser = await token_browser(site, child.token)
    assert status == (await post(browser, "/auth/link/github")).status_code


async def test_a_token_alone_adds_no_second_way_in(site: Site) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    page = await post(browser, "/auth/token", name="laptop")
    token = re.search(r"kb_[\w-]{20,}", page.text)
    assert token is not None
    answer = await post(await token_browser(site, token[0]), "/auth/link/discord")
    assert (403, True) == (answer.status_code, "Log in with that one" in answer.text)


async def test_a_login_that_begins_leaves_the_login_form_of_another_tab_valid(
    site: Site, world: World
) -> None:
    browser = await site.browser()
    csrf = csrf_of(await browser.get("/auth/login"))
    await browser.get("/auth/start/github")
    answer = await browser.post("/auth/login", data={"csrf": csrf, "token": world.ada.token})
    assert (303, "ada") == (answer.status_code, await site.me(browser))


async def test_a_token_made_after_logging_in_lasts_when_the_browser_logs_out(site: Site) -> None:
    browser = await site.browser()
    site.providers["github"].person = (7, "grace")
    await site.log_in(browser)
    page = await post(browser, "/auth/token", name="laptop")
    token = re.search(r"kb_[\w-]{20,}", page.text)
    assert token is not None
    await post(browser, "/auth/logout")
    assert "grace" == (await site.services.users.authenticate(token[0])).name


async def test_a_browser_is_ended_from_another_ones_page(site: Site) -> None:
    first, second = await site.browser(), await site.browser()
    await site.log_in(first)
    await site.log_in(second)
    page = (await second.get("/auth/account")).text
    oldest = re.findall(r'name="token_id" value="(\d+)"', page)[-1]
    await post(second, "/auth/revoke", token_id=oldest)
    assert 303 == (await first.get("/auth/account")).status_code
    assert 200 == (await second.get("/auth/account")).status_code


@pytest.mark.exhaustive  # each run has test_an_account_is_linked_to_a_second_provider
async def test_nobody_links_an_identity_of_someone_else(site: Site) -> None:
    hedy, grace = await site.browser(), await site.browser()
    await site.log_in(hedy, "discord")
    await site.log_in(grace, "github")
    csrf = csrf_of(await grace.get("/auth/account"))
    started = await grace.post("/auth/link/discord", data={"csrf": csrf})
    async with httpx.AsyncClient(timeout=60) as real:
        agreed = await real.get(started.headers["location"])
    assert 409 == (await grace.get(agreed.headers["location"])).status_code


async def test_whoever_logs_out_meanwhile_links_no_identity(site: Site) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    csrf = csrf_of(await browser.get("/auth/account"))
    started = await browser.post("/auth/link/discord", data={"csrf": csrf})
    await browser.post("/auth/logout", data={"csrf": csrf})
    async with httpx.AsyncClient(timeout=60) as real:
        agreed = await real.get(started.headers["location"])
    back = await browser.get(agreed.headers["location"])
    assert 400 == back.status_code
    assert "You are no longer logged in as the one who began." in back.text


@pytest.mark.parametrize(
    "path", ["token", "link/github", "unlink", "revoke", "delete", "logout", "device"]
)
async def test_a_form_from_elsewhere_is_refused(site: Site, path: str) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    answer = await browser.post(f"/auth/{path}", data={"csrf": "0" * 64, "name": "x", "code": "x"})
    assert 403 == answer.status_code


async def test_a_token_from_the_page_opens_the_account(site: Site) -> None:
    browser = await site.browser()
    site.providers["github"].person = (7, "grace")
    await site.log_in(browser)
    csrf = csrf_of(await browser.get("/auth/account"))
    page = await browser.post("/auth/token", data={"csrf": csrf, "name": "laptop"})
    token = re.search(r"kb_[\w-]+", page.text)
    assert token is not None
    assert "grace" == (await site.services.users.authenticate(token[0])).name


async def test_the_only_way_in_stays(site: Site) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    answer = await post(browser, "/auth/unlink", provider="github", subject="42")
    assert (409, "ada-2") == (answer.status_code, await site.me(browser))


async def test_an_unlinked_identity_is_somebody_else(site: Site) -> None:
    site.providers["github"].person = (7, "grace")
    browser, other = await site.browser(), await site.browser()
    await site.log_in(browser)
    await post(browser, "/auth/token", name="laptop")
    await post(browser, "/auth/unlink", provider="github", subject="7")
    await site.log_in(other)
    assert ("grace", "grace-2") == (await site.me(browser), await site.me(other))


@pytest.mark.parametrize(
    ("provider", "subject"),
    [("github", "1"), ("kernelbot", "ADMIN_TOKEN"), ("", ""), ("github", "a'; x"), ("\x00", "7")],
)
async def test_only_ones_own_identities_are_unlinked(
    site: Site, provider: str, subject: str
) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    answer = await post(browser, "/auth/unlink", provider=provider, subject=subject)
    assert 404 == answer.status_code


async def test_a_token_is_revoked_on_the_page(site: Site) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    page = await post(browser, "/auth/token", name="laptop")
    token = re.search(r"kb_[\w-]+", page.text)
    number = re.search(r'name="token_id" value="(\d+)"', (await browser.get("/auth/account")).text)
    assert token is not None
    assert number is not None
    await post(browser, "/auth/revoke", token_id=number[1])
    with pytest.raises(NotAuthenticated):
        await site.services.users.authenticate(token[0])


@pytest.mark.parametrize("number", ["", "x", "-1", "999999", "9" * 100, "1"])
async def test_only_ones_own_tokens_are_revoked(site: Site, number: str) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    assert 404 == (await post(browser, "/auth/revoke", token_id=number)).status_code


async def test_an_account_is_deleted_by_its_name_alone(site: Site) -> None:
    site.providers["github"].person = (7, "grace")
    browser = await site.browser()
    await site.log_in(browser)
    token = browser.cookies["kernelbot_session"]
    wrong = await post(browser, "/auth/delete", name="ada")
    assert (400, "grace") == (wrong.status_code, await site.me(browser))
    await post(browser, "/auth/delete", name="Grace")
    with pytest.raises(NotAuthenticated):
        await site.services.users.authenticate(token, TokenKind.SESSION)


async def test_a_token_that_ends_soon_says_so(site: Site, world: World) -> None:
    now = datetime.now(UTC)
    for name, days in (("soon", 3), ("later", 30)):
        await world.services.tokens.create(
            world.ada.user, name, expires_at=now + timedelta(days=days, hours=1)
        )
    browser = await token_browser(site, world.ada.token)
    text = (await browser.get("/auth/account")).text
    assert ["3 days left"] == re.findall(r'<span class="tag warn">([^<]*)</span>', text)
