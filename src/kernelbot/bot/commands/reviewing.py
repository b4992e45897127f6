"""Held submissions: the evidence, and two buttons."""

from typing import TYPE_CHECKING

import discord

from kernelbot.bot.acting import acting
from kernelbot.bot.answers import Attached, answer, fenced
from kernelbot.bot.presses import Press, Words, button, press_id, shown
from kernelbot.render.markdown import MESSAGE_LIMIT, inline, plain
from kernelbot.submissions.model import Submission

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_AT_ONCE = 25
_REASON_MAX = 500


async def show_held(bot: "KernelBot", interaction: discord.Interaction, number: int = 0) -> None:
    """The held submission of this number, the oldest first, with those around it."""
    viewer = await acting(bot.services, interaction)
    held = await bot.services.reviews.held(viewer, limit=_AT_ONCE)
    if not held:
        await answer(interaction, "Nothing is held for your decision.")
        return
    number = min(number, len(held) - 1)
    one = held[number]
    view = shown(
        button("Release", press_id("release", one.id), style=discord.ButtonStyle.success),
        button("Refuse", press_id("refuse", one.id), style=discord.ButtonStyle.danger),
        button("Next", press_id("held", (number + 1) % len(held)), disabled=len(held) == 1),
    )
    files = [Attached.text(one.file_name, one.code)] if one.code is not None else []
    text, evidence = _text(one, number, len(held))
    await answer(interaction, text, files=[*files, *evidence], view=view)


def _text(one: Submission, number: int, count: int) -> tuple[str, list[Attached]]:
    what = f"submission {one.id} by {plain(one.author)} to **{plain(one.board)}**"
    head = [
        f"Held ({number + 1} of {count}): {what}, {inline(one.file_name)}",
        plain(one.review_reason or ""),
    ]
    noticed = [f"{i.source}: {i.rule} ({i.severity}): {i.detail}" for i in one.evidence]
    text = "\n".join(line for line in head if line)
    if not noticed:
        return text, []
    block, files = fenced("\n".join(noticed), MESSAGE_LIMIT - len(text) - 1, "evidence.txt")
    return f"{text}\n{block}", files


async def _next(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    await show_held(bot, interaction, int(words[0]) if words[0].isdigit() else 0)


def _asking_why(decision: str) -> Press:
    """A decision needs a reason, which the audit log keeps; the author reads why it was refused."""

    async def press(_: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
        await interaction.response.send_modal(_reason_form(decision, words[0]))

    return press


def _reason_form(decision: str, number: str) -> discord.ui.Modal:
    form = discord.ui.Modal(
        title=f"Why {decision} submission {number}?"[:45],
        custom_id=press_id(f"do-{decision}", number),
    )
    field: discord.ui.TextInput[discord.ui.Modal] = discord.ui.TextInput(
        label="The reason", max_length=_REASON_MAX
    )
    form.add_item(field)
    form.stop()
    return form


async def _release(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    actor = await acting(bot.services, interaction)
    found = await bot.services.reviews.release(actor, int(words[0]), words[1])
    await answer(interaction, f"✅ Submission {found.id} is released, and may be ranked.")


async def _refuse(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    actor = await acting(bot.services, interaction)
    found = await bot.services.reviews.refuse(actor, int(words[0]), words[1])
    await answer(interaction, f"⛔ Submission {found.id} is refused; its author reads the reason.")


FORMS = {name: _asking_why(name) for name in ("release", "refuse")}
PRESSES: dict[str, Press] = {"held": _next, "do-release": _release, "do-refuse": _refuse}
