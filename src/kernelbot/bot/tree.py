"""The command tree: acknowledges each command at once, and answers every failure."""

from typing import TYPE_CHECKING

import discord
from discord import app_commands

from kernelbot.bot.errors import report
from kernelbot.bot.typed import require_storable
from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

BY_ITSELF = {"acknowledges": True}
"""`extras` of a command that acknowledges itself, since a form must be the first answer."""


class Tree(app_commands.CommandTree["KernelBot"]):
    """Every command's answer is for the one person who typed it."""

    async def interaction_check(self, interaction: discord.Interaction["KernelBot"], /) -> bool:
        """Acknowledge before anything else: Discord waits for three seconds only."""
        interaction.client.under_way.begin()
        command = interaction.command
        by_itself = command is not None and command.extras.get("acknowledges")
        if interaction.type is not discord.InteractionType.application_command:
            return await _can_suggest(interaction)
        try:
            if not by_itself:
                await interaction.response.defer(ephemeral=True, thinking=True)
            require_storable(interaction)
        except (discord.NotFound, UserError) as error:
            # Not found: too late; nobody can be told but the operator.
            await report(interaction, error)
            return False
        return True

    async def on_error(
        self, interaction: discord.Interaction["KernelBot"], error: app_commands.AppCommandError, /
    ) -> None:
        await report(interaction, error)


async def _can_suggest(interaction: discord.Interaction["KernelBot"]) -> bool:
    """Nothing is suggested for what can't be stored: the command will say so."""
    try:
        require_storable(interaction)
    except UserError:
        await interaction.response.autocomplete([])
        return False
    return True
