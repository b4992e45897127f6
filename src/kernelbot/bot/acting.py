"""Who uses a command, a button or a message: the account that they act as."""

from typing import TYPE_CHECKING, cast

import discord

from kernelbot.accounts.model import User
from kernelbot.domain.errors import NotAllowed
from kernelbot.guilds.model import GuildMember
from kernelbot.services import Services

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot


async def acting(services: Services, interaction: discord.Interaction) -> User:
    """The account of whoever began the interaction, with what their roles in the guild allow.
    Raises `NotAllowed` outside the bot's guilds."""
    return await services.guilds.acting(member_of(interaction))


def member_of(interaction: discord.Interaction) -> GuildMember:
    """Whoever began the interaction. What Discord sent with it says which roles they have, so
    nothing that was remembered can be outdated. Raises `NotAllowed` outside the bot's guilds: one
    that isn't configured any more keeps its commands, buttons and roles at Discord."""
    guild_ids = cast("KernelBot", interaction.client).rules.guild_ids
    if not isinstance(interaction.user, discord.Member) or interaction.guild_id not in guild_ids:
        raise NotAllowed("Commands work in a server of ours only.")
    return _member(interaction.user)


async def acting_member(services: Services, author: discord.Member) -> User:
    """The account of a message's author, as `acting` finds it."""
    return await services.guilds.acting(_member(author))


def _member(member: discord.Member) -> GuildMember:
    roles = frozenset(role.id for role in member.roles)
    return GuildMember(member.guild.id, member.id, member.name, roles)
