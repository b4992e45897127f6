"""The whole site over a world, and browsers that visit it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx
import pytest
from fastapi import FastAPI

from kernelbot.accounts.model import NewToken
from kernelbot.api.settings import ApiSettings
from kernelbot.web.session import SESSION, csrf_of
from kernelbot.web.site import close_site, create_site
from tests.support.applications import application
from tests.support.world import World

_SETTINGS = ApiSettings(
    heartbeat_s=0.05, queue_s=0.02, texts_patience_s=20.0, profiles_patience_s=60.0
)


@dataclass
class Front:
    """The site, with a stranger's browser and those of people who are logged in."""

    app: FastAPI
    world: World
    stranger: httpx.AsyncClient
    ada: httpx.AsyncClient
    bob: httpx.AsyncClient
    admin: httpx.AsyncClient
    stack: AsyncExitStack = field(repr=False)

    async def browser(self, token: NewToken | None = None) -> httpx.AsyncClient:
        """Another browser, logged in with this token."""
        session = await session_of(self.world, token) if token else None
        return await self.stack.enter_async_context(browser_of(self.app, session))


async def session_of(world: World, token: NewToken) -> str:
    """What a browser that was logged in with this token has in its cookie."""
    return (await world.services.logins.open_with(token.token)).token


def browser_of(app: FastAPI, session: str | None = None) -> httpx.AsyncClient:
    """A client that asks for pages as browsers do, with this session's cookie."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    cookies = {SESSION: session} if session else {}
    headers = {"Accept": "text/html,*/*;q=0.8"}
    return httpx.AsyncClient(
        transport=transport, base_url="http://test", headers=headers, cookies=cookies
    )


def csrf_for(browser: httpx.AsyncClient) -> dict[str, str]:
    """The field that forms in this browser hold."""
    return {"csrf": csrf_of(browser.cookies.get(SESSION) or "")}


@pytest.fixture
async def front(world: World) -> AsyncIterator[Front]:
    """Everyone before a fresh site. Silent streams show that they live every 50 ms."""
    app = application(create_site, world.services, _SETTINGS)
    async with AsyncExitStack() as stack:
        people = [await session_of(world, one) for one in (world.ada, world.bob, world.admin)]
        stranger, ada, bob, admin = [
            await stack.enter_async_context(browser_of(app, session)) for session in (None, *people)
        ]
        yield Front(app, world, stranger, ada, bob, admin, stack)
    await close_site(app)
