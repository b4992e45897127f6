"""The connection to Discord's gateway, which comes back whenever it is lost.

discord.py's own loop pauses for up to 17 minutes between two tries, fails for good if the first one
does, and doesn't pause at all if the gateway closes what it has just accepted.
"""

import asyncio
import random
from typing import Any

import aiohttp
import discord
import structlog
from discord.gateway import DiscordWebSocket, ReconnectWebSocket

_OPENING_S = 30.0
_TRIES_THERE = 3
"""How often it is tried to resume a session where Discord wanted that, before the gateway's usual
address is tried."""
LEAST_S = 5.0
"""How long a connection is tried again at least before the bot counts as away."""
_TROUBLES = (OSError, discord.HTTPException, discord.GatewayNotFound, aiohttp.ClientError)
log = structlog.get_logger()


class Presence:
    """Whether there is a session just now. There is none at first."""

    def __init__(self) -> None:
        self._here, self._away = asyncio.Event(), asyncio.Event()
        self._away.set()
        self._since_s = 0.0
        """When something was heard for the last time, while there is no session."""

    @property
    def is_here(self) -> bool:
        return self._here.is_set()

    def begins(self) -> None:
        """A session was begun or resumed."""
        self._away.clear()
        self._here.set()

    def ends(self, silent_s: float = 0.0) -> None:
        """The connection is gone; nothing had come by it for `silent_s` before."""
        if self.is_here or not self._since_s:
            self._since_s = asyncio.get_running_loop().time() - silent_s
        self._here.clear()
        self._away.set()

    async def missing_for(self, patience_s: float) -> None:
        """Return once there has been no session for so long, silence before its end included."""
        while True:
            await self._away.wait()
            passed_s = asyncio.get_running_loop().time() - self._since_s if self._since_s else 0.0
            try:
                async with asyncio.timeout(max(patience_s - passed_s, min(LEAST_S, patience_s))):
                    await self._here.wait()
            except TimeoutError:
                return


async def stay_connected(
    client: discord.Client, presence: Presence, longest_pause_s: float, silence_s: float
) -> None:
    """Connect, and again whenever the connection is lost, until the client is closed. A session is
    resumed if it can be. `silence_s`: after so long without a word the client gives a connection
    up. Raises `discord.ConnectionClosed` or `discord.PrivilegedIntentsRequired`
    if Discord doesn't let the bot in."""
    session: dict[str, Any] = {"initial": True, "shard_id": client.shard_id}
    tries = 0
    clock = asyncio.get_running_loop().time
    while not client.is_closed():
        resume, heard_s = True, clock()
        try:
            async with asyncio.timeout(_OPENING_S):
                client.ws = await DiscordWebSocket.from_client(client, **session)
            while True:
                await client.ws.poll_event()
                heard_s = clock()
        except ReconnectWebSocket as asked:
            resume = asked.resume
        except discord.ConnectionClosed as error:
            _raise_if_shut_out(error)
        except _TROUBLES as error:
            log.warning("discord_not_reached", tries=tries, error=str(error) or repr(error))
        tries = 0 if presence.is_here else tries
        quiet_s = clock() - heard_s
        presence.ends(quiet_s if quiet_s >= silence_s else 0.0)
        if client.is_closed():
            return
        session = _next_session(client, session, resume=resume)
        if tries > _TRIES_THERE:
            session.pop("gateway", None)
        if tries:
            await asyncio.sleep(random.uniform(0, min(longest_pause_s, 2.0 ** min(tries, 10))))
        tries += 1


def _raise_if_shut_out(error: discord.ConnectionClosed) -> None:
    """A connection that was closed in order, or for no reason, may come back."""
    if error.code == 4014:
        raise discord.PrivilegedIntentsRequired(error.shard_id) from None
    if error.code != 1000:
        raise error


def _next_session(
    client: discord.Client, before: dict[str, Any], *, resume: bool
) -> dict[str, Any]:
    ws: DiscordWebSocket | None = getattr(client, "ws", None)
    if ws is None:  # there was none yet
        return before
    session = {"initial": False, "shard_id": client.shard_id}
    if not resume or ws.session_id is None:
        return session
    known = {"session": ws.session_id, "sequence": ws.sequence, "gateway": ws.gateway}
    return {**session, "resume": True, **known}
