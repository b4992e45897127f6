from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp

from kernelbot.accounts.model import NewToken
from kernelbot.api.app import create_app
from kernelbot.api.settings import ApiSettings
from tests.support.applications import application
from tests.support.world import World

_SETTINGS = ApiSettings(heartbeat_s=0.05, queue_s=0.02, ask_again_s=0.0)


@dataclass
class Door:
    """The application over a world, and people who ask it."""

    app: FastAPI
    world: World
    stranger: httpx.AsyncClient
    ada: httpx.AsyncClient
    bob: httpx.AsyncClient
    admin: httpx.AsyncClient


def client_of(app: ASGIApp, token: NewToken | None = None) -> httpx.AsyncClient:
    """A client; our errors become answers as they do behind a real socket."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {token.token}"} if token else {}
    return httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)


@pytest.fixture
async def door(world: World) -> AsyncIterator[Door]:
    """Everyone before a fresh door. Silent streams show that they live every 50 ms."""
    app = application(create_app, world.services, _SETTINGS)
    async with (
        client_of(app) as stranger,
        client_of(app, world.ada) as ada,
        client_of(app, world.bob) as bob,
        client_of(app, world.admin) as admin,
    ):
        yield Door(app, world, stranger, ada, bob, admin)
