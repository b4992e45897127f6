"""Where Discord is. discord.py keeps its addresses in class attributes and takes no others."""

import aiohttp
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

_VERSION = "/api/v10"
_TIMEOUT = aiohttp.ClientTimeout(total=10)


async def use_api(url: str) -> None:
    """Let every bot of this process talk to another host. Raises `aiohttp.ClientError`."""
    base = url.rstrip("/") + _VERSION
    async with (
        aiohttp.ClientSession(timeout=_TIMEOUT) as session,
        session.get(f"{base}/gateway") as response,
    ):
        response.raise_for_status()
        gateway = (await response.json())["url"]
    Route.BASE = base
    DiscordWebSocket.DEFAULT_GATEWAY = URL(gateway)
