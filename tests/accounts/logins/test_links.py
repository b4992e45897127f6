"""Links that log one browser in, once."""

import httpx
import pytest

from kernelbot.accounts.tokens.model import Credential, TokenKind
from kernelbot.domain.errors import NotAuthenticated, NotFound
from tests.accounts.site import Site, csrf_of
from tests.support.world import World


async def made(site: Site, token: str) -> str:
    """The path of a link that the owner of the token has made."""
    terminal = await site.browser()
    bearer = {"Authorization": f"Bearer {token}"}
    answer = await terminal.post("/api/v1/login-links", headers=bearer)
    assert 201 == answer.status_code
    return httpx.URL(answer.json()["url"]).raw_path.decode()


async def follow(browser: httpx.AsyncClient, path: str) -> httpx.Response:
    """Look at the link's page, and click."""
    shown = await browser.get(path)
    link = httpx.URL(path).params["link"]
    return await browser.post("/auth/open", data={"csrf": csrf_of(shown), "link": link})


async def test_a_link_logs_one_browser_in(site: Site, world: World) -> None:
    path = await made(site, world.ada.token)
    browser, late = await site.browser(), await site.browser()
    answers = [await follow(browser, path), await late.get(path)]
    assert [303, 404] == [answer.status_code for answer in answers]
    assert ("ada", None) == (await site.me(browser), late.cookies.get("kernelbot_session"))


async def test_looking_at_a_link_logs_nobody_in(site: Site, world: World) -> None:
    path = await made(site, world.ada.token)
    mail, browser = await site.browser(), await site.browser()
    shown = [await mail.get(path) for _ in range(3)]
    assert [True] * 3 == ["Log in as <bdi>ada</bdi>?" in one.text for one in shown]
    assert None is mail.cookies.get("kernelbot_session")
    assert 303 == (await follow(browser, path)).status_code


async def test_another_site_s_form_uses_no_link(site: Site, world: World) -> None:
    path = await made(site, world.ada.token)
    victim, browser = await site.browser(), await site.browser()
    link = httpx.URL(path).params["link"]
    answer = await victim.post("/auth/open", data={"csrf": "0" * 64, "link": link})
    assert (403, 303) == (answer.status_code, (await follow(browser, path)).status_code)


async def test_what_a_link_opens_ends_with_the_token_that_made_it(site: Site, world: World) -> None:
    path, unused = [await made(site, world.ada.token) for _ in range(2)]
    browser = await site.browser()
    await follow(browser, path)
    await world.services.users.sign_out(world.ada.token)
    session = browser.cookies["kernelbot_session"]
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(session, TokenKind.SESSION)
    assert 404 == (await browser.get(unused)).status_code


async def test_an_old_link_is_no_link(site: Site, world: World) -> None:
    path = await made(site, world.ada.token)
    async with world.database.write() as session:
        await session.do("UPDATE device_logins SET expires_at = now() - interval '1 s'")
    answer = await (await site.browser()).get(path)
    assert (404, True) == (answer.status_code, "Log in again." in answer.text)


async def test_neither_kind_of_secret_is_taken_for_the_other(site: Site, world: World) -> None:
    logins, ada = site.services.logins, world.ada.user
    secret = await logins.make_link(ada, Credential(world.ada.token))
    for said in (secret, f"link:{secret}"):
        with pytest.raises(NotFound):
            await logins.poll_device(said)
    begun = await logins.begin_device()
    await logins.approve_device(ada, begun.user_code)
    with pytest.raises(NotFound):
        await logins.open_link(begun.device_code)
    assert "ada" == (await logins.open_link(secret)).user.name


@pytest.mark.parametrize("link", ["", "x", "'; --", "\udc80", "x" * 1001, "%00"])
async def test_what_is_no_link_logs_nobody_in(site: Site, link: str) -> None:
    browser = await site.browser()
    answer = await browser.get("/auth/open", params={"link": link.encode("utf-8", "replace")})
    assert answer.status_code in (404, 422)


async def test_a_link_is_made_with_a_token_alone(site: Site) -> None:
    assert 401 == (await (await site.browser()).post("/api/v1/login-links")).status_code
