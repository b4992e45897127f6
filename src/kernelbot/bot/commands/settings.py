"""`/admin settings`: what a server is told, and which boards it is about."""

from dataclasses import replace
from typing import TYPE_CHECKING

import discord

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.bot.answers import answer
from kernelbot.bot.commands.general import lacking
from kernelbot.bot.suggestions import ALL
from kernelbot.guilds.model import GuildSettings
from kernelbot.render.markdown import inline, plain

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot


async def change(
    bot: "KernelBot",
    interaction: discord.Interaction,
    actor: User,
    *,
    podium: bool | None,
    new_boards: bool | None,
    weekly: bool | None,
    competition: str | None,
    time_zone: str | None,
) -> None:
    """Change what is given, and show all. Raises `NotAllowed`, `NotFound`."""
    require_admin(actor)
    assert interaction.guild_id is not None, "only members of a guild act here"
    before = await bot.services.guilds.settings(interaction.guild_id)
    after = replace(
        before,
        podium=before.podium if podium is None else podium,
        new_boards=before.new_boards if new_boards is None else new_boards,
        weekly=before.weekly if weekly is None else weekly,
        time_zone=time_zone or before.time_zone,
    )
    if competition:
        after = replace(after, competition=None if competition == ALL else competition)
    if after != before:
        await bot.services.guilds.change_settings(actor, interaction.guild_id, after)
    lines = [settings_text(after), *lacking(bot, interaction.guild_id)]
    await answer(interaction, "\n".join(lines))


def settings_text(found: GuildSettings) -> str:
    """A line for each."""
    zone = inline(found.time_zone)
    boards = f"of {plain(found.competition)} alone" if found.competition else "all"
    return "\n".join(
        (
            "This server's settings",
            f"Boards that are listed and told of: {boards}",
            f"Changes at the top: {'told' if found.podium else 'not told'}",
            f"New boards: {'open a thread' if found.new_boards else 'open no thread'}",
            f"Weekly summary: {f'on Mondays from 9:00 ({zone})' if found.weekly else 'none'}",
            f"Time zone of deadlines that are typed: {zone}",
        )
    )
