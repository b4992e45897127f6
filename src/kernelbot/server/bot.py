"""`kernelbot bot`: the Discord bot, with the database at a URL."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import discord
import structlog

from kernelbot.bot.client import KernelBot
from kernelbot.bot.endpoint import use_api
from kernelbot.bot.machine import Machine
from kernelbot.bot.rules import BotRules
from kernelbot.domain.errors import KernelbotError, Unavailable, UserError
from kernelbot.domain.next_steps import Next
from kernelbot.protocol.process_names import ProcessName, name_process
from kernelbot.render.advice import ADVICE
from kernelbot.server.copies import until_activated
from kernelbot.server.logs import set_up_logs
from kernelbot.server.settings import Settings, read_settings
from kernelbot.server.stopping import StopRequests
from kernelbot.server.trying import this_machine
from kernelbot.server.watchdog import watched
from kernelbot.server.wiring import open_platform
from kernelbot.services import Services
from kernelbot.store import migrate
from kernelbot.store.exclusive import only_one
from kernelbot.store.locks import Lock

AnyClient = TypeVar("AnyClient", bound=discord.Client)
log = structlog.get_logger()
_PORTAL = "See https://discord.com/developers/applications, page Bot."


def run_bot(*, data: Path | None = None, debug: bool = False) -> None:
    """Answer at Discord until SIGTERM, SIGINT or the end of the terminal. Blocks.

    Raises `UserError` without a token, a guild or DATABASE_URL, or if Discord refuses the token,
    `SchemaOutdated`, `Unavailable`.
    """
    settings = read_settings(data=data)
    rules = bot_rules(settings, debug=debug)
    url = settings.external_database_url()
    if url is None:
        raise UserError(
            "`kernelbot bot` needs DATABASE_URL.",
            hint="With the embedded database, `kernelbot serve` starts the bot if DISCORD_TOKEN is "
            "set.",
        )
    set_up_logs()
    asyncio.run(_run(settings, url, rules))


def main() -> None:
    """The bot as a child of `serve`: it ends when its parent ends, for whatever reason."""
    name_process(ProcessName.BOT, keep_command=True)
    settings = read_settings()
    url = settings.external_database_url()
    assert url is not None, "`serve` passes it on"
    set_up_logs()
    try:
        rules = bot_rules(settings)
        asyncio.run(_run(settings, url, rules, parent=sys.stdin.fileno()))
    except KernelbotError as error:  # `serve` starts it again after a pause
        log.error("bot_ended", error=str(error), hint=error.advice(ADVICE))
        sys.exit(1)


def bot_rules(settings: Settings, *, debug: bool = False) -> BotRules:
    """The bot's rules; with `debug` those of the DEBUG pair. Raises `UserError`."""
    token = settings.discord_debug_token if debug else settings.discord_token
    guild = settings.discord_debug_guild if debug else settings.discord_guild
    word = "DEBUG_" if debug else ""
    if not token:
        raise UserError(f"DISCORD_{word}TOKEN isn't set, the bot's token.", hint=_PORTAL)
    own = (guild,) if guild else ()
    guilds = own if debug else (*own, *settings.discord.guilds)
    if not guilds:
        raise UserError(
            f"DISCORD_{word}CLUSTER_STAGING_ID isn't set, the id of the server to work in.",
            hint="In Discord: Settings, Advanced, Developer Mode; then right-click the server.",
        )
    return BotRules(
        token=token,
        guild_ids=tuple(dict.fromkeys(guilds)),
        staging_ids=own if debug else settings.discord.staging,
        api_url=settings.discord.api_url,
        scripts=settings.queue.script_rules(),
    )


async def _run(settings: Settings, url: str, rules: BotRules, parent: int | None = None) -> None:
    await asyncio.to_thread(migrate.check_schema, url)
    stopping = asyncio.ensure_future(StopRequests(parent).asked.wait())
    try:
        async with watched():
            await _first_of(stopping, asyncio.ensure_future(_answer(settings, url, rules)))
    finally:
        stopping.cancel()


class DiscordAway(Unavailable):
    """Discord can't be reached just now."""


async def _answer(settings: Settings, url: str, rules: BotRules) -> None:
    """Answer until cancelled, as soon as no other process does and the database isn't a restored
    copy any more. While Discord is away for us, another may answer. Raises `UserError`,
    `Unavailable`, and `DiscordAway` if it is so at first."""
    await until_activated(url)
    answered = asyncio.Event()
    while True:
        try:
            return await _answer_once(settings, url, rules, answered)
        except DiscordAway as error:
            if not answered.is_set():
                raise
            log.warning("discord_away", error=str(error), hint="Another bot may take over now.")
        await asyncio.sleep(rules.retry_s)


async def _answer_once(
    settings: Settings, url: str, rules: BotRules, answered: asyncio.Event
) -> None:
    """Answer until Discord is away; sets `answered` once the bot has logged in."""
    async with (
        only_one(
            url, Lock.BOT, lambda: log.warning("another_bot_runs", hint="This one waits.")
        ) as held,
        open_platform(settings, url) as core,
        open_bot(core.services, rules, this_machine()) as bot,
    ):
        answered.set()
        await _first_of(held, asyncio.ensure_future(bot.wait_until_closed()))


async def _first_of(*endings: "asyncio.Future[Any]") -> None:
    """Wait for one of them, and stop the others. Raises what it raised."""
    try:
        await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
        for ending in endings:
            if ending.done():
                ending.result()
    finally:
        for ending in endings:
            ending.cancel()
        await asyncio.gather(*endings, return_exceptions=True)


@contextlib.asynccontextmanager
async def open_bot(
    services: Services, rules: BotRules, machine: Machine | None = None
) -> AsyncIterator["RunningBot"]:
    """The bot, logged in and connected while the block runs. Raises `UserError` if Discord refuses
    the token, `Unavailable` if it can't be reached."""
    async with logged_in(KernelBot(services, rules, machine), rules) as bot:
        running = RunningBot(bot, asyncio.create_task(bot.connect(), name="discord"))
        try:
            yield running
        finally:
            await running.close()


@contextlib.asynccontextmanager
async def logged_in(client: AnyClient, rules: BotRules) -> AsyncIterator[AnyClient]:
    """The client, logged in but not yet connected. Raises as `open_bot`."""
    try:
        if rules.api_url is not None:
            await _reach(use_api(rules.api_url))
        await _reach(client.login(rules.token))
        yield client
    finally:
        await client.close()


async def _reach(talk: Awaitable[None]) -> None:
    try:
        await talk
    except discord.LoginFailure:
        raise UserError("Discord refuses the bot's token.", hint=_PORTAL) from None
    except (aiohttp.ClientError, OSError, discord.HTTPException) as error:
        raise DiscordAway(f"Discord can't be reached: {error}", next_step=Next.TRY_AGAIN) from error


class RunningBot:
    """A connected bot; the connection comes back by itself if it is lost for a moment."""

    def __init__(self, bot: KernelBot, connection: asyncio.Task[None]) -> None:
        self.bot = bot
        self._connection = connection

    async def wait_until_closed(self) -> None:
        """Raises `UserError` if Discord doesn't let the bot in: only its page can change that; and
        `DiscordAway` once there has been no connection for `away_s`."""
        away_s = self.bot.rules.away_s
        missing = asyncio.ensure_future(self.bot.presence.missing_for(away_s))
        try:
            await asyncio.wait((self._connection, missing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            missing.cancel()
        if not self._connection.done():
            raise DiscordAway(f"There is no connection to Discord for {away_s:.0f} s.")
        try:
            self._connection.result()
        except discord.PrivilegedIntentsRequired:
            raise UserError(
                "The bot's page lacks the intents Server Members and Message Content.",
                hint=f"Switch both on. {_PORTAL}",
            ) from None
        except discord.ConnectionClosed as error:
            raise Unavailable(f"Discord closed the connection: {error}") from error

    async def close(self) -> None:
        """Say goodbye to Discord."""
        await self.bot.close()
        self._connection.cancel()
        await asyncio.gather(self._connection, return_exceptions=True)
