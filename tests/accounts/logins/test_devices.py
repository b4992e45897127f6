"""Logging in from a terminal, with the help of a browser."""

import httpx
import pytest

from kernelbot.domain.errors import NotAuthenticated, NotFound
from tests.accounts.site import Site, csrf_of
from tests.support.world import World


async def begin(browser: httpx.AsyncClient) -> dict[str, str]:
    begun: dict[str, str] = (await browser.post("/api/v1/device-logins")).json()
    return begun


async def poll(browser: httpx.AsyncClient, begun: dict[str, str]) -> httpx.Response:
    body = {"device_code": begun["device_code"]}
    return await browser.post("/api/v1/device-logins/poll", json=body)


async def approve(browser: httpx.AsyncClient, code: str) -> httpx.Response:
    csrf = csrf_of(await browser.get("/auth/device"))
    return await browser.post("/auth/device", data={"csrf": csrf, "code": code})


async def test_no_terminal_waits_for_a_login_that_nobody_can_give(world: World) -> None:
    with pytest.raises(NotFound, match="no login with Discord or GitHub"):
        await world.services.logins.begin_device()


async def test_a_terminal_is_let_in_once(site: Site) -> None:
    terminal, browser = await site.browser(), await site.browser()
    site.providers["github"].person = (7, "grace")
    await site.log_in(browser)
    begun = await begin(terminal)
    before = (await poll(terminal, begun)).json()
    await approve(browser, begun["user_code"].lower().replace("-", " "))
    login = (await poll(terminal, begun)).json()["login"]
    again = await poll(terminal, begun)
    name = (await site.services.users.authenticate(login["token"])).name
    assert ({"login": None}, "grace", 404) == (before, name, again.status_code)


async def test_a_terminal_that_asks_too_often_is_slowed_down(site: Site, world: World) -> None:
    terminal = await site.browser()
    begun = await begin(terminal)
    answers = [await poll(terminal, begun) for _ in range(3)]
    async with world.database.write() as session:
        await session.do("UPDATE device_logins SET polled_at = now() - interval '12 s'")
    patient = await poll(terminal, begun)
    assert [(200, None), (429, "7"), (429, "12"), (200, None)] == [
        (answer.status_code, answer.headers.get("Retry-After")) for answer in (*answers, patient)
    ]
    assert "slow_down" == answers[1].json()["code"]


async def test_a_terminal_that_was_let_in_is_not_slowed_down(site: Site) -> None:
    terminal, browser = await site.browser(), await site.browser()
    await site.log_in(browser)
    begun = await begin(terminal)
    for _ in range(2):
        await poll(terminal, begun)
    await approve(browser, begun["user_code"])
    assert 200 == (await poll(terminal, begun)).status_code


async def test_a_clock_put_back_slows_no_terminal_down(site: Site, world: World) -> None:
    terminal = await site.browser()
    begun = await begin(terminal)
    await poll(terminal, begun)
    async with world.database.write() as session:
        await session.do("UPDATE device_logins SET polled_at = now() + interval '1 hour'")
    assert 200 == (await poll(terminal, begun)).status_code


async def test_a_code_is_approved_once(site: Site) -> None:
    terminal, first, second = [await site.browser() for _ in range(3)]
    await site.log_in(first, "github")
    await site.log_in(second, "discord")
    begun = await begin(terminal)
    await approve(first, begun["user_code"])
    assert 400 == (await approve(second, begun["user_code"])).status_code


async def test_a_code_whose_time_is_over_is_refused(site: Site, world: World) -> None:
    terminal, browser = await site.browser(), await site.browser()
    await site.log_in(browser)
    begun = await begin(terminal)
    async with world.database.write() as session:
        await session.do("UPDATE device_logins SET expires_at = now()")
    approved = await approve(browser, begun["user_code"])
    assert (400, 404) == (approved.status_code, (await poll(terminal, begun)).status_code)


async def test_the_page_for_codes_is_never_filled_in(site: Site) -> None:
    browser = await site.browser()
    await site.log_in(browser)
    begun = await begin(browser)
    page = await browser.get("/auth/device", params={"code": begun["user_code"]})
    assert begun["user_code"] not in page.text


async def test_a_browser_that_is_not_logged_in_logs_in_first(site: Site) -> None:
    answer = await (await site.browser()).get("/auth/device?provider=github")
    assert "/auth/start/github?next=/auth/device" == answer.headers["location"]


async def test_an_invite_is_handed_on(site: Site) -> None:
    query = {"provider": "github", "invite": "A&next=/evil"}
    answer = await (await site.browser()).get("/auth/device", params=query)
    assert (
        "/auth/start/github?next=/auth/device&invite=A%26next%3D/evil" == answer.headers["location"]
    )


async def test_a_terminals_token_ends_with_what_opened_the_browser(
    site: Site, world: World
) -> None:
    terminal, browser = await site.browser(), await site.browser()
    csrf = csrf_of(await browser.get("/auth/login"))
    await browser.post("/auth/login", data={"csrf": csrf, "token": world.ada.token})
    begun = await begin(terminal)
    await approve(browser, begun["user_code"])
    token = (await poll(terminal, begun)).json()["login"]["token"]
    before = (await site.services.users.authenticate(token)).name
    await site.services.users.sign_out(world.ada.token)
    with pytest.raises(NotAuthenticated):
        await site.services.users.authenticate(token)
    assert "ada" == before


async def test_a_terminal_is_not_let_in_by_a_browser_whose_token_has_ended_meanwhile(
    site: Site, world: World
) -> None:
    terminal, browser = await site.browser(), await site.browser()
    csrf = csrf_of(await browser.get("/auth/login"))
    await browser.post("/auth/login", data={"csrf": csrf, "token": world.ada.token})
    begun = await begin(terminal)
    await approve(browser, begun["user_code"])
    await site.services.users.sign_out(world.ada.token)
    assert 404 == (await poll(terminal, begun)).status_code


async def test_terminals_have_no_more_tokens_than_others(site: Site, world: World) -> None:
    terminal = await site.browser()
    for number in range(99):
        await site.services.tokens.create(world.ada.user, f"n{number}")
    begun = await begin(terminal)
    await site.services.logins.approve_device(world.ada.user, begun["user_code"])
    full = await poll(terminal, begun)
    assert (409, True) == (full.status_code, "100 tokens" in full.text)
