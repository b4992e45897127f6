"""Running a script by itself: by a launcher that is named, from a message's menu, on a mention."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import discord
import structlog
from discord import app_commands

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_unbanned
from kernelbot.bot.acting import acting, acting_member
from kernelbot.bot.answers import Attached, answer_however_late, fenced
from kernelbot.bot.commands.trying import machine_of
from kernelbot.bot.downloads import source_of
from kernelbot.bot.errors import error_text, name_of
from kernelbot.bot.suggestions import Choices, device_names, matching
from kernelbot.domain.errors import UserError
from kernelbot.launchers.kinds import KINDS
from kernelbot.protocol import RunResult, SourceFile, Verdict
from kernelbot.render.markdown import MESSAGE_LIMIT, inline
from kernelbot.render.verdicts import mark
from kernelbot.submissions.source import source_text

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_SUFFIXES = (".py", ".cu")
_ENDS = {Verdict.ACCEPTED: "ended well", Verdict.WRONG_ANSWER: "failed"}
"""Nothing is compared, so these two mean another thing than for a submission."""
_NAMED = 100
"""Characters left for the line's end, and for who asked if they are told late."""
_NO_SCRIPT = "Attach a .py or .cu file, and I run it."
log = structlog.get_logger()


class RunCommands(app_commands.Group):
    """One command for each kind of launcher, and one that takes the device's first."""

    def __init__(self, bot: "KernelBot") -> None:
        super().__init__(name="run", description="Run a script by itself; its output is shown")
        self._bot = bot
        for kind in KINDS.names():
            self.add_command(_by_kind(bot, kind, KINDS.load(kind).title))
        self.add_command(_by_kind(bot, "local", "this machine"))

    @app_commands.command(description="Run a script wherever a device can be reached")
    @app_commands.describe(script="A .py or .cu file", gpu="Default: T4, or the first")
    @app_commands.autocomplete(gpu=device_names)
    async def auto(
        self, interaction: discord.Interaction, script: discord.Attachment, gpu: str = ""
    ) -> None:
        """By the first launcher of the device that is available."""
        await _answer_run(self._bot, interaction, script, gpu or None, None)


def _by_kind(
    bot: "KernelBot", kind: str, where: str
) -> app_commands.Command[RunCommands, ..., None]:
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
            raise UserError(
                "This message has no script.", hint="Choose one with a .py or .cu file."
            )
        await _answer_run(bot, interaction, script, None, None)

    return command


async def on_mention(bot: "KernelBot", message: discord.Message) -> None:
    """Run the script of a message that mentions the bot; its output goes into a thread. Whatever
    goes wrong is answered where it was asked."""
    script = _first_script(message)
    if not isinstance(message.author, discord.Member) or bot.user is None:
        return
    if script is None:
        if bot.user.id in message.raw_mentions:  # a reply mentions whom it answers, too
            await message.reply(_NO_SCRIPT)
        return
    member = acting_member(bot.services, message.author)
    ended = await _ended(bot, member, script, None, None, "mention")
    place: discord.Thread | None = None
    if ended.ran:
        try:
            place = await message.create_thread(name=f"Output of {script.filename}"[:100])
        except discord.HTTPException as error:  # in a thread, with one already, not permitted
            log.info("no_thread", message=message.id, error=str(error))
    files = [one.file() for one in ended.files]
    if place is None:
        await message.reply(ended.text, files=files)
    else:
        await place.send(ended.text, files=files)


def outcome(name: str, result: RunResult) -> tuple[str, list[Attached]]:
    """A script's output: in the message if it is short, else as a file."""
    ended = _ENDS.get(result.verdict) or result.verdict.words
    head = f"{mark(result.verdict)} {inline(name)} on {inline(result.system.device)}: {ended}"
    parts = [result.stdout.strip("\n"), result.stderr.strip("\n")]
    if result.failure is not None and result.verdict is not Verdict.WRONG_ANSWER:
        parts.append(result.failure.message)
    text = "\n".join(part for part in parts if part)
    block, files = fenced(text or "(no output)", MESSAGE_LIMIT - len(head) - _NAMED, "output.txt")
    return f"{head}\n{block}", files


async def _answer_run(
    bot: "KernelBot",
    interaction: discord.Interaction,
    file: discord.Attachment,
    device: str | None,
    kind: str | None,
) -> None:
    member = acting(bot.services, interaction)
    ended = await _ended(bot, member, file, device, kind, name_of(interaction))
    await answer_however_late(interaction, ended.text, ended.files)


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


@dataclass(frozen=True)
class _EndedScript:
    """What is said of a script; `ran`: it is the script's output."""

    text: str
    files: list[Attached]
    ran: bool


async def _ended(
    bot: "KernelBot",
    member: Awaitable[User],
    file: discord.Attachment,
    device: str | None,
    kind: str | None,
    did: str,
) -> _EndedScript:
    """Run it, or say why not. `did`: for the log."""
    try:
        result = await _run(bot, await member, file, device, kind)
    except Exception as error:  # noqa: BLE001 - told and logged
        return _EndedScript(error_text(error, did), [], ran=False)
    return _EndedScript(*outcome(file.filename, result), ran=True)


async def _run(
    bot: "KernelBot", actor: User, file: discord.Attachment, device: str | None, kind: str | None
) -> RunResult:
    """For everybody, when it is their turn. Raises `KernelbotError`."""
    require_unbanned(actor)
    machine = machine_of(bot)
    script = await _source(file)
    name = await asyncio.to_thread(machine.script_device, device, kind)
    async with bot.script_turns.turn(actor.id, name):
        return await machine.run_script(script, name, kind)


def commands(bot: "KernelBot") -> list[Any]:
    """The group, and the command of a message's menu."""
    return [RunCommands(bot), run_this(bot)]
