"""What is suggested while someone types an option. Every suggestion is checked again later."""

import zoneinfo
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import discord
from discord import app_commands

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin, require_creator
from kernelbot.boards.model import Board
from kernelbot.bot.acting import acting
from kernelbot.bot.commands.boards import is_active
from kernelbot.domain.errors import KernelbotError
from kernelbot.protocol import Mode

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

ALL = "all"
"""Names of competitions."""
_MOST = 25
_LONGEST = 100
Choices = list[app_commands.Choice[str]]


async def all_boards(interaction: discord.Interaction, typed: str) -> Choices:
    """Boards that the person may see, the newest first."""
    return matching([board.name for board in await _boards(interaction)], typed)


async def active_boards(interaction: discord.Interaction, typed: str) -> Choices:
    active = [board.name for board in await _boards(interaction) if is_active(board)]
    return matching(active, typed)


async def languages(interaction: discord.Interaction, typed: str) -> Choices:
    """The languages of the named board's starter files."""
    bot = cast("KernelBot", interaction.client)
    name = getattr(interaction.namespace, "name", None)
    if not isinstance(name, str):
        return []
    try:
        viewer = await acting(bot.services, interaction)
        problem = await bot.services.boards.problem(viewer, name)
    except KernelbotError:
        return []  # no such board: the command itself will say so
    return matching(list(problem.templates), typed)


async def devices(interaction: discord.Interaction, typed: str) -> Choices:
    """The devices of the named board; without one, of all active boards. For a test also the
    processors that they take tests for."""
    named = getattr(interaction.namespace, "leaderboard_name", None)
    boards = await _boards(interaction)
    chosen = [board for board in boards if board.name == named] or [
        board for board in boards if is_active(board)
    ]
    names = dict.fromkeys(device for board in chosen for device in board.devices)
    if interaction.command is not None and interaction.command.name == Mode.TEST:
        tried_on = cast("KernelBot", interaction.client).services.boards.tried_on
        names |= dict.fromkeys(device for board in chosen for device in tried_on(board))
    return matching(list(names), typed)


async def device_names(interaction: discord.Interaction, typed: str) -> Choices:
    bot = cast("KernelBot", interaction.client)
    return matching([one.name for one in await bot.services.devices.list_devices()], typed)


async def competitions(interaction: discord.Interaction, typed: str) -> Choices:
    """The competitions, and all boards; for administrators."""
    bot = cast("KernelBot", interaction.client)
    if not await _may(interaction, require_admin):
        return []
    return matching([ALL, *await bot.services.guilds.competitions()], typed)


async def time_zones(_: discord.Interaction, typed: str) -> Choices:
    return matching(sorted(zoneinfo.available_timezones()), typed)


async def folders(interaction: discord.Interaction, typed: str) -> Choices:
    """The problem folders of the server; for those who may make boards of them."""
    bot = cast("KernelBot", interaction.client)
    if not await _may(interaction, require_creator):
        return []
    return matching(await bot.services.problem_folders.names(), typed)


async def _may(interaction: discord.Interaction, require: Callable[[User], None]) -> bool:
    bot = cast("KernelBot", interaction.client)
    try:
        require(await acting(bot.services, interaction))
    except KernelbotError:
        return False
    return True


async def _boards(interaction: discord.Interaction) -> list[Board]:
    bot = cast("KernelBot", interaction.client)
    try:
        viewer = await acting(bot.services, interaction)
    except KernelbotError:
        return []  # they may not take part: the command itself will say so
    return await bot.services.boards.list_boards(viewer, guild_id=interaction.guild_id)


def matching(names: Sequence[str], typed: str) -> Choices:
    """The texts that begin with what was typed, then those that contain it."""
    wanted = typed.strip().lower()
    found = [name for name in names if wanted in name.lower() and len(name) <= _LONGEST]
    found.sort(key=lambda name: not name.lower().startswith(wanted))
    return [app_commands.Choice(name=name, value=name) for name in found[:_MOST]]
