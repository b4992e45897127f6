"""`/leaderboard create`: a board from one reference file, for the devices that are chosen."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import discord

from kernelbot.accounts.model import User
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import Attached, answer, file_beside
from kernelbot.bot.commands.boards import deadline_text
from kernelbot.bot.downloads import source_of
from kernelbot.bot.presses import Press, Words, menu, press_id, require_own, shown
from kernelbot.domain.errors import UserError
from kernelbot.render.markdown import plain

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_FORMS = ("%Y-%m-%d %H:%M", "%Y-%m-%d")


def deadline_of(text: str, zone: str = "UTC") -> datetime:
    """A time to come, in this time zone. Raises `UserError`."""
    for form in _FORMS:
        try:
            found = datetime.strptime(text.strip(), form).replace(tzinfo=ZoneInfo(zone))
            found.astimezone(UTC)
        except (ValueError, OverflowError):  # or the last evening of the year 9999
            continue
        if found <= datetime.now(UTC):
            raise UserError("The deadline has passed already.", hint="Choose a later one.")
        return found
    raise UserError(
        "The deadline can't be read.",
        hint=f"Write it as 2030-12-31 or 2030-12-31 18:00, in the time zone {zone}.",
    )


async def ask_for_devices(
    bot: "KernelBot",
    interaction: discord.Interaction,
    name: str,
    deadline: str,
    reference: discord.Attachment,
) -> None:
    """Check everything, and ask which devices it is for; the file goes along with the question.
    Raises `NotAllowed`, `UserError`, `InvalidProblem`."""
    actor = await acting(bot.services, interaction)
    settings = await bot.services.guilds.settings(interaction.guild_id or 0)
    until = deadline_of(deadline, settings.time_zone)
    content = await source_of(reference)
    boards = bot.services.boards
    definition = await boards.check_reference(actor, name, reference.filename, content)
    choices = [(device, device) for device in boards.devices_for(definition)]
    # The word is short, so that the longest names fit into an id.
    custom_id = press_id("new", interaction.user.id, name, int(until.timestamp()))
    await answer(
        interaction,
        f"Which GPUs is **{plain(name)}** for?",
        files=[Attached(reference.filename, content)],
        view=shown(menu("Choose the GPUs", custom_id, choices, most=len(choices))),
    )


async def _create(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    owner, name, until, *devices = words
    require_own(interaction, owner)
    file = file_beside(interaction, "file")
    actor: User = await acting(bot.services, interaction)
    board = await bot.services.boards.create_from_reference(
        actor,
        name=name,
        file_name=file.filename,
        content=await source_of(file),
        deadline=datetime.fromtimestamp(int(until), UTC),
        devices=tuple(devices),
    )
    on = plain(", ".join(board.devices))
    text = f"**{plain(board.name)}** is open: {deadline_text(board)}, on {on}."
    await interaction.edit_original_response(content=text, view=None, attachments=[])


PRESSES: dict[str, Press] = {"new": _create, "create-on": _create}
