"""Trying things on the bot's machine: launchers, problems, scripts."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from kernelbot.bot.acting import acting, acting_member
from kernelbot.bot.answers import Attached, answer
from kernelbot.bot.downloads import source_of
from kernelbot.bot.errors import sentence
from kernelbot.bot.machine import Machine, OnLine
from kernelbot.bot.suggestions import device_names, folders
from kernelbot.domain.errors import KernelbotError, Unavailable, UserError
from kernelbot.domain.source import source_text
from kernelbot.protocol import RunResult, Verdict
from kernelbot.render.markdown import MESSAGE_LIMIT, fenced_within, inline
from kernelbot.render.verdicts import TITLES, mark
from kernelbot.services.permissions import require_admin, require_creator

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_INLINE = 1200
_SHOWN_LINES = 30


def commands(bot: "KernelBot") -> list[Any]:
    """The commands that stand alone, and the one of a message's menu."""

    @app_commands.command(description="Send an example through every device and launcher")
    async def verifyruns(interaction: discord.Interaction) -> None:
        require_admin(await acting(bot.services, interaction))
        machine = _machine(bot)
        await _tell_lines(bot, interaction, "Runs", machine.verify_runs)

    @app_commands.command(name="verify-task", description="Judge a problem's own solutions")
    @app_commands.describe(task="A folder under the server's PROBLEM_DEV_DIR")
    @app_commands.autocomplete(task=folders)
    async def verify_task(interaction: discord.Interaction, task: str) -> None:
        require_admin(await acting(bot.services, interaction))
        machine = _machine(bot)
        head = f"Solutions of {inline(task)}"
        await _tell_lines(bot, interaction, head, lambda said: machine.verify_task(task, said))

    @app_commands.command(description="Run a Python script by itself; its output is shown")
    @app_commands.describe(script="A Python file", gpu="Default: the first device")
    @app_commands.autocomplete(gpu=device_names)
    async def run(
        interaction: discord.Interaction, script: discord.Attachment, gpu: str = ""
    ) -> None:
        require_creator(await acting(bot.services, interaction))
        text = await _script(script)
        result = await _run(bot, gpu or None, text)
        said, files = outcome(script.filename, result)
        await answer(interaction, said, files=files)

    @app_commands.context_menu(name="Run this")
    async def run_this(interaction: discord.Interaction, message: discord.Message) -> None:
        require_creator(await acting(bot.services, interaction))
        script = _first_script(message)
        if script is None:
            raise UserError("This message has no Python file.", hint="Choose one that has.")
        result = await _run(bot, None, await _script(script))
        said, files = outcome(script.filename, result)
        await answer(interaction, said, files=files)

    return [verifyruns, verify_task, run, run_this]


async def on_mention(bot: "KernelBot", message: discord.Message) -> None:
    """Run the script of a message that mentions the bot; its output goes into a thread."""
    script = _first_script(message)
    if script is None or not isinstance(message.author, discord.Member):
        return
    try:
        require_creator(await acting_member(bot.services, message.author))
        result = await _run(bot, None, await _script(script))
        said, files = outcome(script.filename, result)
    except KernelbotError as error:
        said, files = sentence(error), []
    thread = await message.create_thread(name=f"Output of {script.filename}"[:100])
    await thread.send(said, files=[one.file() for one in files])


def outcome(name: str, result: RunResult) -> tuple[str, list[Attached]]:
    """A script's output: in the message if it is short, else as a file."""
    ended = "ended well" if result.verdict is Verdict.ACCEPTED else TITLES[result.verdict]
    head = f"{mark(result.verdict)} {inline(name)} on {inline(result.system.device)}: {ended}"
    parts = [result.stdout.strip("\n"), result.stderr.strip("\n")]
    if result.failure is not None and result.verdict is not Verdict.WRONG_ANSWER:
        parts.append(result.failure.message)
    text = "\n".join(part for part in parts if part)
    if len(text) <= _INLINE:
        return f"{head}\n{fenced_within(text or '(no output)', MESSAGE_LIMIT - len(head))}", []
    return head, [Attached.text("output.txt", text)]


def _machine(bot: "KernelBot") -> Machine:
    if bot.machine is None:
        raise Unavailable("Nothing can be tried on the bot's machine.")
    return bot.machine


def _first_script(message: discord.Message) -> discord.Attachment | None:
    return next((one for one in message.attachments if one.filename.endswith(".py")), None)


async def _script(file: discord.Attachment) -> str:
    if not file.filename.lower().endswith(".py"):
        raise UserError(f"{file.filename!r} isn't a Python file.")
    return source_text(await source_of(file))


async def _run(bot: "KernelBot", device: str | None, text: str) -> RunResult:
    """One at a time, so that scripts don't disturb each other more than they must."""
    machine = _machine(bot)
    async with bot.one_at_a_time:
        return await asyncio.to_thread(machine.run_script, device, text)


async def _tell_lines(
    bot: "KernelBot", interaction: discord.Interaction, head: str, work: Callable[[OnLine], bool]
) -> None:
    """Do it in a thread, and show its lines as they come."""
    lines: list[str] = []
    loop = asyncio.get_running_loop()

    def on_line(line: str) -> None:
        loop.call_soon_threadsafe(lines.append, line)

    async with bot.one_at_a_time:
        await answer(interaction, f"{head}: ...")
        working = asyncio.create_task(asyncio.to_thread(work, on_line))
        told = 0
        while not working.done():
            await asyncio.wait((working,), timeout=max(bot.rules.edit_pause_s, 0.05))
            if len(lines) > told:
                told = len(lines)
                await answer(interaction, _lines_text(f"{head}: ...", lines))
        good = await working
    ended = "✅ all is well" if good else "❌ not all is well"
    await answer(interaction, _lines_text(f"{head}: {ended}", lines))


def _lines_text(head: str, lines: list[str]) -> str:
    block = fenced_within("\n".join(lines[-_SHOWN_LINES:]), MESSAGE_LIMIT - len(head) - 1)
    return f"{head}\n{block}"
