"""Running a script by itself: by a launcher that is named, from a message's menu, on a mention."""

import asyncio
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from kernelbot.bot.acting import acting, acting_member
from kernelbot.bot.answers import Attached, answer
from kernelbot.bot.commands.trying import machine_of
from kernelbot.bot.downloads import source_of
from kernelbot.bot.errors import sentence
from kernelbot.bot.suggestions import Choices, device_names, matching
from kernelbot.domain.errors import KernelbotError, UserError
from kernelbot.domain.source import source_text
from kernelbot.protocol import RunResult, SourceFile, Verdict
from kernelbot.render.markdown import MESSAGE_LIMIT, fenced_within, inline
from kernelbot.render.verdicts import TITLES, mark
from kernelbot.services.permissions import require_creator

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_KINDS = {
    "modal": "Modal",
    "github": "GitHub Actions",
    "slurm": "Slurm",
    "buildkite": "Buildkite",
    "local": "this machine",
}
_SUFFIXES = (".py", ".cu")
_INLINE = 1200
_ENDS = {Verdict.ACCEPTED: "ended well", Verdict.WRONG_ANSWER: "failed"}
"""Nothing is compared, so these two mean another thing than for a submission."""


class Run(app_commands.Group):
    """One command for each kind of launcher, and one that takes the device's first."""

    def __init__(self, bot: "KernelBot") -> None:
        super().__init__(name="run", description="Run a script by itself; its output is shown")
        self._bot = bot
        for kind, where in _KINDS.items():
            self.add_command(_by_kind(bot, kind, where))

    @app_commands.command(description="Run a script wherever a device can be reached")
    @app_commands.describe(script="A .py or .cu file", gpu="Default: the first device")
    @app_commands.autocomplete(gpu=device_names)
    async def auto(
        self, interaction: discord.Interaction, script: discord.Attachment, gpu: str = ""
    ) -> None:
        """By the first launcher of the device that is available."""
        await _answer_run(self._bot, interaction, script, gpu or None, None)


def _by_kind(bot: "KernelBot", kind: str, where: str) -> app_commands.Command[Run, ..., None]:
    async def devices(_: discord.Interaction, typed: str) -> Choices:
        if bot.machine is None:
            return []
        return matching(await asyncio.to_thread(bot.machine.devices_reached, kind), typed)

    @app_commands.command(name=kind, description=f"Run a script by {where}")
    @app_commands.describe(gpu_type="A device, or NVIDIA, AMD", script="A .py or .cu file")
    @app_commands.autocomplete(gpu_type=devices)
    async def run(
        interaction: discord.Interaction, gpu_type: str, script: discord.Attachment
    ) -> None:
        await _answer_run(bot, interaction, script, gpu_type, kind)

    return run


def run_this(bot: "KernelBot") -> app_commands.ContextMenu:
    """The command of a message's menu."""

    @app_commands.context_menu(name="Run this")
    async def command(interaction: discord.Interaction, message: discord.Message) -> None:
        script = _first_script(message)
        if script is None:
            require_creator(await acting(bot.services, interaction))
            raise UserError(
                "This message has no script.", hint="Choose one with a .py or .cu file."
            )
        await _answer_run(bot, interaction, script, None, None)

    return command


async def on_mention(bot: "KernelBot", message: discord.Message) -> None:
    """Run the script of a message that mentions the bot; its output goes into a thread."""
    script = _first_script(message)
    if script is None or not isinstance(message.author, discord.Member):
        return
    try:
        require_creator(await acting_member(bot.services, message.author))
        result = await _run(bot, await _source(script), None, None)
        said, files = outcome(script.filename, result)
    except KernelbotError as error:
        said, files = sentence(error), []
    thread = await message.create_thread(name=f"Output of {script.filename}"[:100])
    await thread.send(said, files=[one.file() for one in files])


def outcome(name: str, result: RunResult) -> tuple[str, list[Attached]]:
    """A script's output: in the message if it is short, else as a file."""
    ended = _ENDS.get(result.verdict) or TITLES[result.verdict]
    head = f"{mark(result.verdict)} {inline(name)} on {inline(result.system.device)}: {ended}"
    parts = [result.stdout.strip("\n"), result.stderr.strip("\n")]
    if result.failure is not None and result.verdict is not Verdict.WRONG_ANSWER:
        parts.append(result.failure.message)
    text = "\n".join(part for part in parts if part)
    if len(text) <= _INLINE:
        return f"{head}\n{fenced_within(text or '(no output)', MESSAGE_LIMIT - len(head))}", []
    return head, [Attached.text("output.txt", text)]


async def _answer_run(
    bot: "KernelBot",
    interaction: discord.Interaction,
    file: discord.Attachment,
    device: str | None,
    kind: str | None,
) -> None:
    require_creator(await acting(bot.services, interaction))
    result = await _run(bot, await _source(file), device, kind)
    said, files = outcome(file.filename, result)
    await answer(interaction, said, files=files)


def _is_script(file: discord.Attachment) -> bool:
    return file.filename.lower().endswith(_SUFFIXES)


def _first_script(message: discord.Message) -> discord.Attachment | None:
    return next((one for one in message.attachments if _is_script(one)), None)


async def _source(file: discord.Attachment) -> SourceFile:
    if not _is_script(file):
        raise UserError(
            f"{file.filename!r} is no script.", hint="Attach a file that ends in .py or .cu."
        )
    return SourceFile(file.filename, source_text(await source_of(file)))


async def _run(
    bot: "KernelBot", script: SourceFile, device: str | None, kind: str | None
) -> RunResult:
    """One at a time, so that scripts don't disturb each other more than they must."""
    machine = machine_of(bot)
    async with bot.one_at_a_time:
        return await asyncio.to_thread(machine.run_script, script, device, kind)


def commands(bot: "KernelBot") -> list[Any]:
    """The group, and the command of a message's menu."""
    return [Run(bot), run_this(bot)]
