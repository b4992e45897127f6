"""The whole site over a world, and browsers that visit it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx
import pytest
from fastapi import FastAPI

from kernelbot.api.settings import ApiSettings
from kernelbot.domain.types import NewToken
from kernelbot.web.session import SESSION, csrf_of
from kernelbot.web.site import close_site, create_site
from tests.support.applications import application
from tests.support.world import World

_SETTINGS = ApiSettings(heartbeat_s=0.05, queue_s=0.02)


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
        return await self.stack.enter_async_context(browser_of(self.app, token))


def browser_of(app: FastAPI, token: NewToken | None = None) -> httpx.AsyncClient:
    """A client that asks for pages as browsers do."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    cookies = {SESSION: token.token} if token else {}
    headers = {"Accept": "text/html,*/*;q=0.8"}
    return httpx.AsyncClient(
        transport=transport, base_url="http://test", headers=headers, cookies=cookies
    )


def csrf_for(token: NewToken) -> dict[str, str]:
    """The field that this person's forms hold."""
    return {"csrf": csrf_of(token.token)}


@pytest.fixture
async def front(world: World) -> AsyncIterator[Front]:
    """Everyone before a fresh site. Silent streams show that they live every 50 ms."""
    app = application(create_site, world.services, _SETTINGS)
    async with AsyncExitStack() as stack:
        stranger, ada, bob, admin = [
            await stack.enter_async_context(browser_of(app, token))
            for token in (None, world.ada, world.bob, world.admin)
        ]
        yield Front(app, world, stranger, ada, bob, admin, stack)
    await close_site(app)
