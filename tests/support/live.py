"""A whole HTTP server on a real socket, in a thread of this process, without a worker."""

import asyncio
import queue
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import uvicorn

from kernelbot.accounts.logins.providers import LoginRules
from kernelbot.api.settings import ApiSettings
from kernelbot.platform.exports.model import ExportRules
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.web.site import close_site, create_site
from tests.support.applications import application
from tests.support.world import DEVICES, World, open_world

ADMIN_TOKEN = "the organiser's own"
_SETTINGS = ApiSettings(
    heartbeat_s=0.1,
    texts_patience_s=20.0,
    admin_token=ADMIN_TOKEN,
    wrong_tokens_a_minute=1_000_000,  # those that try out whatever comes to mind are many
)

T = TypeVar("T")


@dataclass(frozen=True)
class LiveServer:
    """`world` belongs to the server's event loop: `call` uses its services."""

    url: str
    world: World
    loop: asyncio.AbstractEventLoop

    def call(self, coroutine: Coroutine[object, object, T]) -> T:
        """Run one of the world's coroutines where the world lives."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=60)


@contextmanager
def live_server(
    database_url: str,
    login_rules: LoginRules | None = None,
    *,
    devices: tuple[DeviceConfig, ...] = DEVICES,
    export_rules: ExportRules | None = None,
) -> Iterator[LiveServer]:
    """Serves until the end of the block."""
    opening = open_world(database_url, login_rules, devices=devices, export_rules=export_rules)
    started: queue.Queue[tuple[LiveServer, uvicorn.Server] | BaseException] = queue.Queue()

    def run() -> None:
        try:
            asyncio.run(_serve(opening, started))
        except BaseException as error:
            started.put(error)
            raise

    thread = threading.Thread(target=run, name="live server")
    thread.start()
    found = started.get(timeout=60)
    if isinstance(found, BaseException):
        raise found
    live, server = found
    try:
        yield live
    finally:
        server.should_exit = True
        thread.join()


async def _serve(
    opening: AbstractAsyncContextManager[World],
    started: "queue.Queue[tuple[LiveServer, uvicorn.Server] | BaseException]",
) -> None:
    async with opening as world:
        app = application(create_site, world.services, _SETTINGS)
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        # Bound and listening before it serves, so an early client only waits a little.
        with socket.create_server(("127.0.0.1", 0)) as listening:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            started.put((LiveServer(url, world, asyncio.get_running_loop()), server))
            await server.serve(sockets=[listening])
        await close_site(app)
