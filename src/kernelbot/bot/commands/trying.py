"""Trying launchers and problems on the bot's machine."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import aiohttp
import discord
from discord import app_commands

from kernelbot.accounts.permissions import require_admin
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import answer, answer_however_late, fenced
from kernelbot.bot.machine import Machine, OnLine
from kernelbot.bot.suggestions import folders
from kernelbot.domain.errors import Unavailable
from kernelbot.protocol import Mode
from kernelbot.render.markdown import MESSAGE_LIMIT, fenced_within, inline

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_MODES = [
    app_commands.Choice(name=name, value=mode.value)
    for name, mode in (
        ("test", Mode.TEST),
        ("benchmark", Mode.BENCHMARK),
        ("ranked", Mode.LEADERBOARD),
    )
]
_SHOWN_LINES = 30


def commands(bot: "KernelBot") -> list[Any]:
    """The commands that stand alone."""

    @app_commands.command(description="Send an example through every device and launcher")
    async def verifyruns(interaction: discord.Interaction) -> None:
        require_admin(await acting(bot.services, interaction))
        machine = machine_of(bot)
        await _tell_lines(bot, interaction, "Runs", machine.verify_runs)

    @app_commands.command(name="verify-task", description="Judge a problem's own solutions")
    @app_commands.describe(
        task="A folder under the server's PROBLEM_DEV_DIR", mode="Default: benchmark"
    )
    @app_commands.autocomplete(task=folders)
    @app_commands.choices(mode=_MODES)
    async def verify_task(
        interaction: discord.Interaction, task: str, mode: str = Mode.BENCHMARK.value
    ) -> None:
        require_admin(await acting(bot.services, interaction))
        machine = machine_of(bot)
        head = f"Solutions of {inline(task)}"

        def verify(on_line: OnLine) -> bool:
            return machine.verify_task(task, Mode(mode), on_line)

        await _tell_lines(bot, interaction, head, verify)

    return [verifyruns, verify_task]


def machine_of(bot: "KernelBot") -> Machine:
    """Raises `Unavailable`."""
    if bot.machine is None:
        raise Unavailable("Nothing can be tried on the bot's machine.")
    return bot.machine


async def _tell_lines(
    bot: "KernelBot", interaction: discord.Interaction, head: str, work: Callable[[OnLine], bool]
) -> None:
    """Do it in a thread, and show its lines as they come. It may take longer than Discord's 15
    minutes, and nobody else begins before it has ended."""
    lines: list[str] = []
    loop = asyncio.get_running_loop()

    def on_line(line: str) -> None:
        loop.call_soon_threadsafe(lines.append, line)

    async with bot.one_at_a_time:
        await _show(interaction, f"{head}: ...")
        working = asyncio.create_task(asyncio.to_thread(work, on_line))
        shown = 0
        while not working.done():
            await asyncio.wait((working,), timeout=max(bot.rules.edit_pause_s, 0.05))
            if len(lines) > shown:
                shown = len(lines)
                await _show(interaction, _latest(f"{head}: ...", lines))
        good = await working
    head = f"{head}: {'✅ all is well' if good else '❌ not all is well'}"
    block, files = fenced("\n".join(lines), MESSAGE_LIMIT - len(head) - 1, "lines.txt")
    await answer_however_late(interaction, f"{head}\n{block}", files)


async def _show(interaction: discord.Interaction, text: str) -> None:
    """What can't be shown just now, the end shows as well."""
    if not interaction.is_expired():
        with contextlib.suppress(discord.HTTPException, aiohttp.ClientError, OSError):
            await answer(interaction, text)


def _latest(head: str, lines: list[str]) -> str:
    block = fenced_within("\n".join(lines[-_SHOWN_LINES:]), MESSAGE_LIMIT - len(head) - 1)
    return f"{head}\n{block}"
