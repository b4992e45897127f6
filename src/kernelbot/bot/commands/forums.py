"""Which thread of the forum belongs to which board."""

from typing import TYPE_CHECKING

import discord

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.bot.answers import answer
from kernelbot.domain.errors import UserError
from kernelbot.render.markdown import plain
from kernelbot.render.text import counted

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot


async def match_threads(
    bot: "KernelBot",
    interaction: discord.Interaction,
    actor: User,
    forum: discord.ForumChannel | None,
    *,
    open_missing: bool,
) -> None:
    """Find each board's thread by its name, also among archived ones. A forum that is named is the
    guild's from then on. Raises `NotAllowed`, `UserError`."""
    require_admin(actor)
    assert interaction.guild is not None, "only members of a guild act here"
    if forum is not None:
        await bot.use_forum(forum)
    else:
        forum = _forum(bot, interaction.guild)
    there = await _threads(interaction.guild, forum)
    boards = await bot.services.announcements.match_threads(
        actor, interaction.guild.id, there, open_missing=open_missing
    )
    known = [one for one in boards if one.thread_id is not None]
    lines = [f"{forum.mention} is the forum: {counted(len(known), 'board')} with a thread."]
    missing = [plain(one.board) for one in boards if one.thread_id is None and not one.ended]
    if missing and open_missing:
        lines.append(f"Threads are opened for: {', '.join(missing)}.")
    elif missing:
        lines.append(f"No thread is named like: {', '.join(missing)}. `open_missing` opens them.")
    await answer(interaction, "\n".join(lines))


def _forum(bot: "KernelBot", guild: discord.Guild) -> discord.ForumChannel:
    """The guild's. Raises `UserError`."""
    places = bot.places.get(guild.id)
    found = guild.get_channel(places.forum_id) if places and places.forum_id else None
    if not isinstance(found, discord.ForumChannel):
        raise UserError("This server has no forum for leaderboards.", hint="Name one.")
    return found


async def _threads(guild: discord.Guild, forum: discord.ForumChannel) -> dict[int, str]:
    """The names of the forum's threads by their ids."""
    active = [one for one in await guild.active_threads() if one.parent_id == forum.id]
    archived = [one async for one in forum.archived_threads(limit=None)]
    return {one.id: one.name for one in (*active, *archived)}
