"""The names of accounts: written as JSON, changed from JSON, or as people are called in a guild."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import discord

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.bot.answers import Attached, answer
from kernelbot.domain.errors import InvalidSubmission, UserError
from kernelbot.guilds.service import PROVIDER
from kernelbot.render.markdown import plain
from kernelbot.render.text import counted

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_PAGE = 500
_MAX_BYTES = 1 << 20
_DIGITS = 20


async def write_names(bot: "KernelBot", interaction: discord.Interaction, actor: User) -> None:
    """All accounts' names by their numbers, as a file. Raises `NotAllowed`."""
    names: dict[str, str] = {}
    after_id = 0
    while True:
        page = await bot.services.users.list_users(actor, limit=_PAGE, after_id=after_id)
        names |= {str(user.id): user.name for user in page}
        if len(page) < _PAGE:
            break
        after_id = page[-1].id
    file = Attached.text("user-names.json", json.dumps(names, indent=2, ensure_ascii=False))
    await answer(interaction, f"{counted(len(names), 'account')}.", files=[file])


async def update_names(
    bot: "KernelBot", interaction: discord.Interaction, actor: User, file: discord.Attachment | None
) -> None:
    """Rename accounts as the file says; without one, as their people are called in the guild. Those
    that can't be are named. Raises `NotAllowed`, `InvalidSubmission`."""
    require_admin(actor)
    assert interaction.guild is not None, "only members of a guild act here"
    if file is not None:
        wanted = await _read(file)
    else:
        wanted = await _called_here(bot, actor, interaction.guild)
    refused = [line for line in await _rename(bot, actor, wanted.items()) if line]
    renamed = f"Renamed: {counted(len(wanted) - len(refused), 'account')}."
    await answer(interaction, "\n".join([renamed, *refused]))


async def _called_here(bot: "KernelBot", actor: User, guild: discord.Guild) -> dict[int, str]:
    """The user names of members whose account is named differently, by the accounts' numbers."""
    names = {str(member.id): member.name async for member in guild.fetch_members(limit=None)}
    accounts = await bot.services.users.with_identities(actor, PROVIDER, list(names))
    return {
        account.id: names[subject]
        for subject, account in accounts.items()
        if account.name != names[subject]
    }


async def _rename(bot: "KernelBot", actor: User, wanted: Iterable[tuple[int, str]]) -> list[str]:
    """For each: why it couldn't be renamed, else an empty text."""
    said = []
    for user_id, name in wanted:
        try:
            await bot.services.users.rename(actor, user_id, name)
        except UserError as error:
            said.append(f"{user_id}: {plain(str(error))}")
        else:
            said.append("")
    return said


async def _read(file: discord.Attachment) -> dict[int, str]:
    """The numbers and names of a file. Raises `InvalidSubmission`."""
    mistake = InvalidSubmission("The file isn't a JSON object of numbers and names.")
    if file.size > _MAX_BYTES:
        raise InvalidSubmission("The file is larger than 1 MiB.")
    try:
        found = json.loads(await file.read())
    except (ValueError, RecursionError):
        raise mistake from None
    if not isinstance(found, dict):
        raise mistake
    if not all(_is_number(key) and isinstance(name, str) for key, name in found.items()):
        raise mistake
    return {int(key): name for key, name in found.items()}


def _is_number(key: str) -> bool:
    """Whether an account could have it; what is longer Python may refuse to read."""
    return key.isascii() and key.isdigit() and len(key) < _DIGITS
