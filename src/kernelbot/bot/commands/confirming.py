"""Questions with two buttons, before something that can't be undone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import discord

from kernelbot.accounts.model import User
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import Attached, answer
from kernelbot.bot.presses import Press, Words, button, press_id, require_own, shown
from kernelbot.domain.errors import UserError
from kernelbot.render.markdown import plain
from kernelbot.render.text import counted

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_ID_MAX = 100


async def ask(
    interaction: discord.Interaction,
    question: str,
    yes: str,
    name: str,
    *words: object,
    files: Sequence[Attached] = (),
) -> None:
    """Show the question; `name` and `words` are those of the press that does it. Raises `UserError`
    if they don't fit into a button; `files` go along with the question for what doesn't."""
    custom_id = press_id(name, interaction.user.id, *words)
    if len(custom_id) > _ID_MAX or custom_id.count("|") != len(words) + 1:
        raise UserError("These names are too long for a button.", hint="Use the terminal.")
    view = shown(
        button(yes, custom_id, style=discord.ButtonStyle.danger),
        button("Keep everything", press_id("keep", interaction.user.id)),
    )
    await answer(interaction, question, files=files, view=view)


async def ask_to_delete_board(
    bot: "KernelBot", interaction: discord.Interaction, actor: User, name: str
) -> None:
    """Ask whether a board shall go, with all submissions. Raises `NotFound`, `NotAllowed`."""
    found = await bot.services.statistics.show(actor, board=name)
    board = await bot.services.boards.get(actor, name)
    made = counted(found.submissions, "submission")
    question = f"Delete **{plain(board.name)}**, with {made}? "
    question += "This can't be undone."
    await ask(interaction, question, "Delete it", "delete-board", board.id, board.name)


async def _delete_board(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    owner, board_id, name = words
    require_own(interaction, owner)
    actor = await acting(bot.services, interaction)
    board = await bot.services.boards.get(actor, name)
    if str(board.id) != board_id:
        raise UserError("There is another board of that name by now.", hint="Type it again.")
    count = await bot.services.deletion.delete_board(actor, name, force=True)
    text = f"🗑️ **{plain(name)}** is deleted, with {counted(count, 'submission')}."
    await interaction.edit_original_response(content=text, view=None)


async def ask_to_delete_submission(
    bot: "KernelBot", interaction: discord.Interaction, actor: User, number: int
) -> None:
    """Ask whether a submission shall go. Raises `NotFound`, `NotAllowed`."""
    found = await bot.services.submissions.get(actor, number)
    question = (
        f"Delete submission {found.id} by {plain(found.author)} to **{plain(found.board)}**? "
        "This can't be undone."
    )
    await ask(interaction, question, "Delete it", "delete-submission", found.id)


async def _delete_submission(
    bot: "KernelBot", interaction: discord.Interaction, words: Words
) -> None:
    owner, number = words
    require_own(interaction, owner)
    actor = await acting(bot.services, interaction)
    await bot.services.deletion.delete_submission(actor, int(number))
    text = f"🗑️ Submission {number} is deleted."
    await interaction.edit_original_response(content=text, view=None)


async def _keep(_: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    require_own(interaction, words[0])
    await interaction.edit_original_response(content="Nothing was changed.", view=None)


PRESSES: dict[str, Press] = {
    "delete-board": _delete_board,
    "delete-submission": _delete_submission,
    "keep": _keep,
}
