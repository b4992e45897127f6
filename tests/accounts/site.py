"""An application with both providers, and browsers that visit it."""

import re
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx
from fastapi import FastAPI

from kernelbot.accounts.logins.model import Registration
from kernelbot.accounts.logins.providers import LoginRules, discord, github
from kernelbot.accounts.tokens.model import TokenKind
from kernelbot.api.settings import ApiSettings
from kernelbot.server.wiring import open_services
from kernelbot.services import Services
from kernelbot.web.site import create_site
from tests.fakes.oauth_provider import CLIENT_ID, CLIENT_SECRET, FakeProvider, fake_provider
from tests.support.applications import application
from tests.support.world import DEVICES, World

HTML = {"Accept": "text/html"}


@dataclass
class Site:
    """An application with both providers, and browsers that visit it."""

    app: FastAPI
    services: Services
    providers: dict[str, FakeProvider]
    stack: AsyncExitStack = field(repr=False)

    async def browser(self) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://test", headers=HTML)
        return await self.stack.enter_async_context(client)

    async def callback(self, browser: httpx.AsyncClient, provider: str, path: str = "") -> str:
        """Begin in this browser and say yes at the provider: the link back to us."""
        started = await browser.get(path or f"/auth/start/{provider}")
        async with httpx.AsyncClient(timeout=60) as real:
            agreed = await real.get(started.headers["location"])
        return agreed.headers["location"]

    async def log_in(
        self, browser: httpx.AsyncClient, provider: str = "github", **query: str
    ) -> httpx.Response:
        path = str(httpx.URL(f"/auth/start/{provider}", params=query))
        return await browser.get(await self.callback(browser, provider, path))

    async def me(self, browser: httpx.AsyncClient) -> str:
        """Who a browser is logged in as."""
        token = browser.cookies.get("kernelbot_session") or ""
        return (await self.services.users.authenticate(token, TokenKind.SESSION)).name


async def opened(
    world: World, stack: AsyncExitStack, registration: Registration = Registration.OPEN
) -> Site:
    fakes = {name: stack.enter_context(fake_provider(name)) for name in ("github", "discord")}
    rules = LoginRules(
        (
            github(
                CLIENT_ID,
                CLIENT_SECRET,
                url=fakes["github"].url,
                api_url=fakes["github"].url,
            ),
            discord(CLIENT_ID, CLIENT_SECRET, url=fakes["discord"].url),
        ),
        registration,
    )
    core = await stack.enter_async_context(
        open_services(world.database.url, DEVICES, login_rules=rules)
    )
    app = application(create_site, core.services, ApiSettings(public_url="http://test"))
    return Site(app, core.services, fakes, stack)


def csrf_of(page: httpx.Response) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
    assert found is not None
    return found[1]


async def post(browser: httpx.AsyncClient, path: str, **form: str) -> httpx.Response:
    """Send one of the account page's forms."""
    csrf = csrf_of(await browser.get("/auth/account"))
    return await browser.post(path, data={"csrf": csrf, **form})
