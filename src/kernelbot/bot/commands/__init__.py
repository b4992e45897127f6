"""Every command, and what the buttons under their answers do."""

from typing import TYPE_CHECKING, Any

from discord import app_commands

from kernelbot.bot.commands import (
    boards,
    confirming,
    creating,
    general,
    reviewing,
    running,
    submit,
    syncing,
    trying,
)
from kernelbot.bot.commands.admin import Admin
from kernelbot.bot.commands.leaderboard import Leaderboard
from kernelbot.bot.commands.submissions import SubmissionCommands
from kernelbot.bot.presses import Press

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

AnyCommand = app_commands.Command[Any, ..., Any] | app_commands.Group | app_commands.ContextMenu


def command_groups(bot: "KernelBot") -> list[AnyCommand]:
    """The commands at the top: each is a group or stands alone."""
    groups = (Leaderboard(bot), SubmissionCommands(bot), Admin(bot))
    return [*general.commands(bot), *trying.commands(bot), *running.commands(bot), *groups]


def press_handlers() -> dict[str, Press]:
    """What clicks do, by the first word of their ids."""
    modules = (boards, submit, confirming, creating, syncing, reviewing)
    return {name: press for module in modules for name, press in module.PRESSES.items()}


def form_handlers() -> dict[str, Press]:
    """Clicks that show a form, which must be their first answer."""
    return {**reviewing.FORMS}
