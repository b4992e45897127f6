"""Every command, and what the buttons under their answers do."""

from typing import TYPE_CHECKING, Any

from discord import app_commands

from kernelbot.bot.commands import boards, general, submit
from kernelbot.bot.commands.leaderboard import Leaderboard
from kernelbot.bot.presses import Press

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

AnyCommand = app_commands.Command[Any, ..., Any] | app_commands.Group | app_commands.ContextMenu


def command_groups(bot: "KernelBot") -> list[AnyCommand]:
    """The commands at the top: each is a group or stands alone."""
    return [*general.commands(bot), Leaderboard(bot)]


def press_handlers() -> dict[str, Press]:
    """What clicks do, by the first word of their ids."""
    return {**boards.PRESSES, **submit.PRESSES}
