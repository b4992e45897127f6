"""The bot itself: its connection to Discord, its guilds, and where events go."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace

import aiohttp
import discord
import structlog

from kernelbot.bot.announcing import Announcer
from kernelbot.bot.commands import command_groups, form_handlers, press_handlers
from kernelbot.bot.commands.running import on_mention
from kernelbot.bot.connecting import Presence, stay_connected
from kernelbot.bot.following import SubmissionFollower
from kernelbot.bot.machine import Machine
from kernelbot.bot.pictures import MessageCharts
from kernelbot.bot.places import create_guild_channels, reason_of
from kernelbot.bot.presses import Presses
from kernelbot.bot.rules import STAGING_NICK, BotRules
from kernelbot.bot.script_turns import ScriptQueue
from kernelbot.bot.tree import Tree
from kernelbot.bot.under_way import AnswersUnderWay
from kernelbot.domain.errors import Unavailable
from kernelbot.drawing.texts import Texts
from kernelbot.guilds.model import GuildChannels
from kernelbot.services import Services

_TROUBLES = (Unavailable, discord.HTTPException, aiohttp.ClientError, OSError)
_LONGEST_PAUSE_S = 60.0
"""Before it is tried again to prepare a guild."""
_LAST_ANSWERS_S = 2.0
"""For what is being answered when the bot ends: `serve` waits three seconds for all of it."""
log = structlog.get_logger()


def intents() -> discord.Intents:
    """What the bot is told: its guilds, their members, and messages with their content."""
    wanted = discord.Intents.none()
    wanted.guilds = wanted.members = wanted.guild_messages = wanted.message_content = True
    return wanted


class KernelBot(discord.Client):
    """Over the same services as the other doors. It remembers nothing that the database must not
    forget, so it may be killed at any moment."""

    def __init__(self, services: Services, rules: BotRules, machine: Machine | None = None) -> None:
        super().__init__(
            intents=intents(),
            allowed_mentions=discord.AllowedMentions.none(),
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_messages=None,
            guild_ready_timeout=rules.ready_pause_s,
            heartbeat_timeout=rules.silence_s,
        )
        self.services = services
        self.rules = rules
        self.machine = machine
        self.one_at_a_time = asyncio.Semaphore(1)
        """For what admins verify on this machine."""
        self.script_turns = ScriptQueue(rules.scripts)
        self.places: dict[int, GuildChannels] = {}
        """The ids of the guilds that are ready."""
        self.lacks: dict[int, tuple[str, ...]] = {}
        """What couldn't be made in them, and why."""
        self.under_way = AnswersUnderWay()
        self.tree = Tree(self)
        for command in command_groups(self):
            self.tree.add_command(command)
        self.pictures = MessageCharts()
        self.texts = Texts()
        self.follower = SubmissionFollower(self)
        self.announcer = Announcer(self)
        self._presses = Presses(press_handlers(), form_handlers())
        self.presence = Presence()
        self._preparing = asyncio.Lock()
        self.prepared = asyncio.Event()
        """Set once every guild has its commands."""

    async def connect(self, *, reconnect: bool = True) -> None:
        """Stay connected until it is closed. Raises as `stay_connected`."""
        assert reconnect, "it always comes back"
        rules = self.rules
        await stay_connected(self, self.presence, rules.reconnect_pause_s, rules.silence_s)

    async def on_connect(self) -> None:
        self.presence.begins()

    async def on_resumed(self) -> None:
        self.presence.begins()

    def served(self) -> Sequence[discord.Guild]:
        return [guild for guild in self.guilds if guild.id in self.rules.guild_ids]

    def ready_guilds(self) -> Sequence[int]:
        """The ids of those that are prepared and that Discord shows just now."""
        return [one.id for one in self.served() if one.id in self.places and not one.unavailable]

    async def on_ready(self) -> None:
        """Prepare the guilds. Discord says so again after a connection that couldn't be resumed."""
        for guild in self.served():
            await self._try_to_prepare(guild)
        absent = set(self.rules.guild_ids) - {guild.id for guild in self.guilds}
        if absent:
            log.error("guilds_absent", guilds=sorted(absent), hint="Invite the bot to them.")
        self.announcer.start()
        await self._resume_following()
        log.info("bot_ready", guilds=[guild.id for guild in self.served()])
        self.prepared.set()
        await self._prepare_the_rest()

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Prepare one that Discord didn't show when it said that all was ready."""
        if self.prepared.is_set() and guild.id in self.rules.guild_ids:
            await self._prepare_the_rest()

    async def _try_to_prepare(self, guild: discord.Guild) -> None:
        try:
            await self.prepare(guild)
        except _TROUBLES as error:  # the other guilds don't suffer from it
            log.error("guild_not_prepared", guild=guild.id, error=str(error))

    async def _prepare_the_rest(self) -> None:
        """Prepare the guilds that Discord shows and that couldn't be prepared yet, as often as it
        takes."""
        pause_s = self.rules.retry_s
        while not self.is_closed():
            rest = [one for one in self.served() if one.id not in self.places]
            for guild in (one for one in rest if not one.unavailable):
                await self._try_to_prepare(guild)
            if all(one.unavailable or one.id in self.places for one in rest):
                return
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _resume_following(self) -> None:
        """Go on with what wasn't told to its end, once the database answers."""
        while not self.is_closed():
            try:
                await self.follower.resume([guild.id for guild in self.served()])
            except Unavailable as error:
                log.warning("following_not_resumed", error=str(error))
                await asyncio.sleep(self.rules.retry_s)
            else:
                return

    async def close(self) -> None:
        """Answer what was asked, stop telling of submissions, and say goodbye to Discord."""
        await self.under_way.end(_LAST_ANSWERS_S)
        await self.follower.close()
        await self.announcer.close()
        await self.pictures.close()
        await self.texts.close()
        await super().close()

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Prepare it, if it is one of ours."""
        if guild.id in self.rules.guild_ids:
            await self._try_to_prepare(guild)
            await self._prepare_the_rest()
        else:
            log.warning("guild_not_configured", guild=guild.id)

    async def prepare(self, guild: discord.Guild) -> None:
        """Give the guild its commands, whatever else it can't have, then channels and roles.
        `lacks` says from then on what it can't have. Raises `Unavailable` while Discord doesn't
        show the guild: what it has would be made, and be given rights, a second time."""
        async with self._preparing:
            if guild.unavailable:
                raise Unavailable("Discord doesn't show this server just now.")
            lacks: list[str] = []
            try:
                await self.register_commands(guild)
            except discord.HTTPException as error:
                log.error("guild_without_commands", guild=guild.id, error=str(error))
                lacks.append(f"commands: {reason_of(error)}")
            made = await create_guild_channels(self.services, guild)
            self.places[guild.id] = made.places
            self.lacks[guild.id] = (*lacks, *made.lacks)
            await self._name_itself(guild)

    async def _name_itself(self, guild: discord.Guild) -> None:
        """Take the nickname that says "staging", if this bot is only tried out; elsewhere it is
        taken off."""
        wanted = STAGING_NICK if guild.id in self.rules.staging_ids else None
        if guild.me.nick == wanted or (wanted is None and guild.me.nick != STAGING_NICK):
            return
        try:
            await guild.me.edit(nick=wanted)
        except discord.HTTPException as error:
            log.warning("guild_without_nickname", guild=guild.id, error=str(error))

    async def use_forum(self, forum: discord.ForumChannel) -> None:
        """Open the threads of new boards there from now on."""
        guild_id = forum.guild.id
        async with self._preparing:
            known = await self.services.guilds.places(guild_id)
            places = replace(known or GuildChannels(), forum_id=forum.id)
            await self.services.guilds.set_places(guild_id, places)
            if guild_id in self.places:  # else it is yet to be prepared
                self.places[guild_id] = places

    async def register_commands(self, guild: discord.Guild) -> int:
        """Replace the guild's slash commands by this release's; returns how many there are."""
        self.tree.clear_commands(guild=guild)
        self.tree.copy_global_to(guild=guild)
        return len(await self.tree.sync(guild=guild))

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Clicks, choices and forms; discord.py itself handles commands."""
        if interaction.type in (
            discord.InteractionType.component,
            discord.InteractionType.modal_submit,
        ):
            self.under_way.begin()
            await self._presses.handle(self, interaction)

    async def on_message(self, message: discord.Message) -> None:
        """A mention of the bot with a script; its own messages and those of others aren't ours."""
        guild = message.guild
        if guild is None or guild.id not in self.rules.guild_ids or message.author.bot:
            return
        if self.user is not None and any(one.id == self.user.id for one in message.mentions):
            self.under_way.begin()
            await on_mention(self, message)

    async def on_error(self, event_method: str, /, *_args: object, **_values: object) -> None:
        """Log what an event's handler couldn't do; the bot goes on."""
        log.error("bot_event_failed", event_name=event_method, exc_info=sys.exception())
