"""Commands about the platform as a whole."""

import time
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from kernelbot.accounts.model import Role
from kernelbot.accounts.permissions import require_admin
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import answer
from kernelbot.bot.commands.help import help_text
from kernelbot.render.markdown import plain
from kernelbot.render.text import counted

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot


def lacking(bot: "KernelBot", guild_id: int | None) -> list[str]:
    """For organisers: a line for each thing that the server can't have, and why."""
    return [f"⚠️ Missing: {plain(one)}." for one in bot.lacks.get(guild_id or 0, ())]


async def answer_help(bot: "KernelBot", interaction: discord.Interaction) -> None:
    """What the caller may do; for admins also what the server lacks."""
    viewer = await acting(bot.services, interaction)
    lines = lacking(bot, interaction.guild_id) if viewer.role is Role.ADMIN else []
    await answer(interaction, "\n".join([help_text(viewer), *lines]))


def commands(bot: "KernelBot") -> list[app_commands.Command[Any, ..., Any]]:
    """The commands that stand alone."""

    @app_commands.command(description="Is the bot alive, and how far away is Discord?")
    async def ping(interaction: discord.Interaction) -> None:
        await answer(interaction, f"Pong: Discord answers in {bot.latency * 1000:.0f} ms.")

    @app_commands.command(description="Does the database answer, and is it of this release?")
    async def verifydb(interaction: discord.Interaction) -> None:
        began_s = time.perf_counter()
        found = await bot.services.health.ready()
        took_ms = (time.perf_counter() - began_s) * 1000
        lines = [f"{'✅' if one.ok else '❌'} {one.name}: {plain(one.note)}" for one in found.parts]
        lines += [
            f"{'✅' if one.ok else '⚠️'} {plain(one.name)}: {plain(one.note) or 'available'}"
            for one in found.judging
        ]
        await answer(interaction, "\n".join([*lines, f"Asked in {took_ms:.0f} ms."]))

    @app_commands.command(description="Clear and register the slash commands again")
    async def resync(interaction: discord.Interaction) -> None:
        require_admin(await acting(bot.services, interaction))
        assert interaction.guild is not None, "only members of a guild act here"
        await bot.prepare(interaction.guild)
        count = len(bot.tree.get_commands())
        said = f"Registered again: {counted(count, 'command')}. Reload Discord."
        await answer(interaction, "\n".join([said, *lacking(bot, interaction.guild.id)]))

    @app_commands.command(name="help", description="How to take part, and what you may do")
    async def show_help(interaction: discord.Interaction) -> None:
        await answer_help(bot, interaction)

    return [ping, verifydb, resync, show_help]
