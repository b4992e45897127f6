"""The bot, connected to a Discord on loopback, over the services of a database of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from kernelbot.accounts.model import User
from kernelbot.bot.client import KernelBot
from kernelbot.bot.machine import Machine
from kernelbot.bot.rules import BotRules
from kernelbot.guilds.model import GuildMember
from kernelbot.server.bot import open_bot
from tests.fakes.discord import BOT_TOKEN, FakeDiscord, FakeGuild, Person, fake_discord
from tests.support.waiting import until_told
from tests.support.world import World, open_world

ADMIN, CREATOR = "Leaderboard Admin", "Leaderboard Creator"


@dataclass
class Stage:
    """A guild with the bot in it, and people."""

    world: World
    discord: FakeDiscord
    guild: FakeGuild
    rules: BotRules
    people: dict[str, Person] = field(default_factory=dict)
    bot: KernelBot | None = None
    machine: Machine | None = None

    def person(self, name: str, *roles: str) -> Person:
        """Someone of this name; the same one if asked again."""
        if name not in self.people:
            self.people[name] = self.discord.person(name, self.guild, *roles)
        return self.people[name]

    @property
    def told(self) -> str:
        """The transcript."""
        return self.discord.transcript.text

    @property
    def conversation(self) -> str:
        """The transcript, without what is announced to everyone and may come at any moment."""
        announced = ("bot in thread", "bot in #general")
        entries = self.discord.transcript.entries
        return "\n".join(one.text for one in entries if not one.text.startswith(announced))

    async def acting(self, person: Person) -> User:
        """The account that a person acts as."""
        member = GuildMember(
            self.guild.id, person.user.id, person.user.name, frozenset(person.user.roles)
        )
        return await self.world.services.guilds.acting(member)

    async def has_thread(self, board: str) -> None:
        """Until the platform knows a board's thread: the bot says so just after it is opened."""

        async def is_known() -> bool:
            found = await self.world.services.announcements.threads(self.guild.id)
            return any(one.board == board and one.thread_id is not None for one in found)

        await until_told(is_known)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[KernelBot]:
        """The bot while the block runs, once it has prepared its guilds."""
        async with open_bot(self.world.services, self.rules, self.machine) as running:
            ready = asyncio.ensure_future(running.bot.prepared.wait())
            closed = asyncio.ensure_future(running.wait_until_closed())
            async with asyncio.timeout(60):
                await asyncio.wait((ready, closed), return_when=asyncio.FIRST_COMPLETED)
            if closed.done():
                await closed
            closed.cancel()
            yield running.bot

    async def nothing_open(self) -> None:
        """Until every answer has been given to its end."""

        async def is_done() -> bool:
            return not await self.world.services.chat.open_answers([self.guild.id])

        await until_told(is_done)


@contextlib.asynccontextmanager
async def open_stage(database_url: str) -> AsyncIterator[Stage]:
    """Without the bot yet. At the end no rule of Discord's may have been broken."""
    async with open_world(database_url) as world, fake_discord() as discord:
        guild = discord.guild()
        rules = BotRules(
            token=BOT_TOKEN,
            guild_ids=(guild.id,),
            api_url=discord.url,
            ready_pause_s=0.05,
            edit_pause_s=0.0,
            retry_s=0.05,
            reconnect_pause_s=0.01,
        )
        yield Stage(world, discord, guild, rules)
        assert [] == discord.refused
        assert not discord.contradictions, sorted(set(discord.contradictions))
