"""The server: what there is, who may do what, and what goes wrong on demand."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from aiohttp import web

from tests.fakes.discord import answers, facts, rest
from tests.fakes.discord.buckets import Buckets
from tests.fakes.discord.gateway import Gateway
from tests.fakes.discord.model import (
    DIRECT,
    THREAD,
    FakeChannel,
    FakeGuild,
    FakeMessage,
    FakeRole,
    FakeUser,
    Upload,
    Wire,
    snowflake,
)
from tests.fakes.discord.people import Interaction, Person
from tests.fakes.discord.transcript import Transcript, shown

BOT_TOKEN = "bot.token.of-tests"


@dataclass
class Trouble:
    """What the next requests to a path get instead. `status` 0: the connection ends."""

    path_part: str
    times: int
    status: int
    retry_after_s: float = 0.0


class FakeDiscord:
    """Discord, as far as our bot is concerned."""

    def __init__(self) -> None:
        self.url = ""
        self.bot = FakeUser(snowflake(), "kernelbot", bot=True)
        self.application_id = self.bot.id
        self.guilds: dict[int, FakeGuild] = {}
        self.users: dict[int, FakeUser] = {self.bot.id: self.bot}
        self.direct: dict[int, FakeChannel] = {}
        self.uploads: dict[int, Upload] = {}
        self.sent: dict[str, FakeMessage] = {}
        """What the bot has sent with a nonce."""
        self.interactions: dict[str, Interaction] = {}
        self.transcript = Transcript()
        self.refused: list[rest.Refusal] = []
        """Requests that broke one of Discord's rules; a test of ours fails if there is one."""
        self.late: list[Interaction] = []
        """Interactions that were acknowledged too late."""
        self.requests: Counter[str] = Counter()
        self.downloads: Counter[int] = Counter()
        self.troubles: list[Trouble] = []
        self.contradictions: list[str] = []
        """Requests, and answers of ours, that aren't as Discord describes them."""
        self.buckets = Buckets()
        self.limited_at_s: list[float] = []
        """When a request was refused with 429."""
        self.gateway = Gateway(BOT_TOKEN, self._ready, self.changed)
        self._changed = asyncio.Condition()

    def guild(self, name: str = "kernels") -> FakeGuild:
        """A new guild with the bot in it."""
        guild_id = snowflake()
        everyone = FakeRole(guild_id, "@everyone")
        bot_role = FakeRole(snowflake(), "kernelbot")
        self.bot.roles.add(bot_role.id)
        guild = FakeGuild(guild_id, name, everyone, {guild_id: everyone, bot_role.id: bot_role})
        guild.members[self.bot.id] = self.bot
        self.guilds[guild_id] = guild
        return guild

    def person(self, name: str, guild: FakeGuild, *roles: str) -> Person:
        """Someone in a guild with these roles."""
        user = FakeUser(snowflake(), name, roles={guild.role(role).id for role in roles})
        self.users[user.id] = user
        guild.members[user.id] = user
        return Person(self, user, guild)

    def channel(self, channel_id: int) -> FakeChannel | None:
        """The channel, thread or direct messages of this id."""
        of_guilds = (guild.channels.get(channel_id) for guild in self.guilds.values())
        return next((one for one in of_guilds if one), None) or self.direct.get(channel_id)

    def direct_channel(self, user_id: int) -> FakeChannel:
        """The direct messages between the bot and a person."""
        for channel in self.direct.values():
            if channel.owner_id == user_id:
                return channel
        made = FakeChannel(snowflake(), 0, "", DIRECT, owner_id=user_id)
        self.direct[made.id] = made
        return made

    def trouble(self, path_part: str, status: int, *, times: int = 1, after_s: float = 0.0) -> None:
        """The next requests to such a path fail."""
        self.troubles.append(Trouble(path_part, times, status, after_s))

    async def add_message(self, message: FakeMessage, interaction: Interaction | None) -> None:
        """The bot has said something."""
        channel = self.channel(message.channel_id)
        assert channel is not None
        channel.messages.append(message)
        if interaction is not None:
            interaction.messages.append(message)
            interaction.answers += 1
        self.transcript.add(f"bot {self._where(message)}: {shown(message)}", message.only_for)
        await self.changed()

    async def edited(self, message: FakeMessage) -> None:
        """The bot has changed what it said."""
        message.edits += 1
        where = self._where(message)
        self.transcript.add(f"bot edits {where}: {shown(message)}", message.only_for)
        await self.changed()

    def _where(self, message: FakeMessage) -> str:
        if message.only_for is not None:
            return f"(only {self.users[message.only_for].name})"
        channel = self.channel(message.channel_id)
        assert channel is not None
        if channel.type == DIRECT:
            return f"(to {self.users[channel.owner_id].name})"
        return f"in thread {channel.name}" if channel.type == THREAD else f"in #{channel.name}"

    async def changed(self) -> None:
        """Wake those who wait for something."""
        async with self._changed:
            self._changed.notify_all()

    async def until(self, condition: Callable[[], object], within_s: float = 60.0) -> None:
        """Wait for something that the bot does."""
        try:
            async with asyncio.timeout(within_s), self._changed:
                await self._changed.wait_for(lambda: bool(condition()))
        except TimeoutError:
            raise AssertionError(f"it never happened; so far:\n{self.transcript.text}") from None

    def _ready(self) -> tuple[Wire, list[tuple[str, Wire]]]:
        ids = [{"id": str(guild.id), "unavailable": True} for guild in self.guilds.values()]
        ready = {
            "v": 10,
            "user": self.bot.wire(),
            "guilds": ids,
            "resume_gateway_url": f"{self.url.replace('http', 'ws')}/gateway",
            "application": {"id": str(self.application_id), "flags": 0},
        }
        return ready, [("GUILD_CREATE", guild.wire()) for guild in self.guilds.values()]


@web.middleware
async def _limited(request: web.Request, handler: rest.Handler) -> web.StreamResponse:
    """Refuse what is above a bucket's limit, and say in each answer what is left."""
    if not request.path.startswith(rest.API):
        return await handler(request)
    allowed, headers = request.app[rest.FAKE].buckets.use(request, rest.route_of(request))
    if not allowed:
        return _too_many(request.app[rest.FAKE], float(headers["X-RateLimit-Reset-After"]), headers)
    response = await handler(request)
    response.headers.update(headers)
    return response


@web.middleware
async def _trouble(request: web.Request, handler: rest.Handler) -> web.StreamResponse:
    """Count the request, and refuse it if a test wants that."""
    fake = request.app[rest.FAKE]
    fake.requests[f"{request.method} {rest.route_of(request)}"] += 1
    for trouble in fake.troubles:
        if trouble.times > 0 and trouble.path_part in request.path:
            trouble.times -= 1
            if trouble.status == 0 and request.transport is not None:
                request.transport.close()
            return _troubled(fake, trouble)
    return await handler(request)


def _troubled(fake: FakeDiscord, trouble: Trouble) -> web.Response:
    if trouble.status != 429:
        return rest.json_answer({"code": 0, "message": "broken"}, trouble.status)
    fake.limited_at_s.append(time.monotonic())
    return _too_many(fake, trouble.retry_after_s, {})


def _too_many(fake: FakeDiscord, after_s: float, headers: dict[str, str]) -> web.Response:
    body = {"message": "rate limited", "retry_after": after_s, "global": False, "code": 0}
    fake.contradictions += facts.lacking("rate limit", body)
    told = {"Via": "1.1 fake", "Retry-After": f"{after_s}", "X-RateLimit-Scope": "user"}
    return rest.json_answer(body, 429, headers | told)


@contextlib.asynccontextmanager
async def fake_discord() -> AsyncIterator[FakeDiscord]:
    """Serves on a free port of loopback until the end of the block."""
    fake = FakeDiscord()
    app = web.Application(middlewares=[_limited, _trouble], client_max_size=64 << 20)
    app[rest.FAKE] = fake
    app.add_routes([*rest.routes(), *answers.routes()])
    app.router.add_get("/gateway", fake.gateway.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    fake.url = f"http://{host}:{port}"
    try:
        yield fake
    finally:
        await runner.cleanup()
