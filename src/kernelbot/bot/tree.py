"""The command tree: acknowledges each command at once, and answers every failure."""

from typing import TYPE_CHECKING

import discord
from discord import app_commands

from kernelbot.bot.errors import report

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

BY_ITSELF = {"acknowledges": True}
"""`extras` of a command that acknowledges itself, since a form must be the first answer."""


class Tree(app_commands.CommandTree["KernelBot"]):
    """Every command's answer is for the one person who typed it."""

    async def interaction_check(self, interaction: discord.Interaction["KernelBot"], /) -> bool:
        """Acknowledge before anything else: Discord waits for three seconds only."""
        command = interaction.command
        by_itself = command is not None and command.extras.get("acknowledges")
        if interaction.type is not discord.InteractionType.application_command or by_itself:
            return True
        try:
            await interaction.response.defer(ephemeral=True, thinking=True)
        except discord.NotFound as error:  # too late; nobody can be told but the operator
            await report(interaction, error)
            return False
        return True

    async def on_error(
        self, interaction: discord.Interaction["KernelBot"], error: app_commands.AppCommandError, /
    ) -> None:
        await report(interaction, error)
