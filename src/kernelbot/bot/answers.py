"""Answers to interactions, within Discord's limits."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import discord
import structlog

from kernelbot.domain.errors import UserError
from kernelbot.domain.next_steps import Next
from kernelbot.render.markdown import MESSAGE_LIMIT, fenced_within, fits_fenced, plain
from kernelbot.render.text import cut, shorten

log = structlog.get_logger()
_FILES = 10
_FILE_BYTES = 9 << 20
_TOGETHER_BYTES = 24 << 20
"""Most bytes of a message's files together; Discord takes requests of up to 25 MiB."""
_NAME, _NAMES = 100, 300
_EXPIRED = (10015, 50027)
"""Discord's codes: unknown webhook, a token whose time is over."""


@dataclass(frozen=True)
class Attached:
    name: str
    content: bytes

    @classmethod
    def text(cls, name: str, text: str) -> "Attached":
        """A text file, of which a message has room for the beginning at least."""
        return cls(name, text.encode("utf-8", "replace")[:_FILE_BYTES])

    def file(self) -> discord.File:
        """For one message: discord.py uses it up."""
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in self.name)[-_NAME:]
        return discord.File(io.BytesIO(self.content), name.lstrip(".") or "file")


def message_of(text: str, files: Sequence[Attached]) -> tuple[str, list[discord.File]]:
    """A message's content and files: as many of the files as fit, and the content names the
    others."""
    sent: list[Attached] = []
    others: list[str] = []
    room = _TOGETHER_BYTES
    for one in files:
        if len(one.content) <= min(room, _FILE_BYTES) and len(sent) < _FILES:
            sent.append(one)
            room -= len(one.content)
        else:
            others.append(plain(one.name))
    names = cut(", ".join(others), _NAMES)
    note = f"\nThere is no room in a message for: {names}" if others else ""
    return shorten(text, MESSAGE_LIMIT - len(note)) + note, [one.file() for one in sent]


def fenced(text: str, limit: int, file_name: str) -> tuple[str, list[Attached]]:
    """A block of at most `limit` characters, and the whole text as a file if the block has only a
    part of it."""
    whole = fits_fenced(text, limit)
    return fenced_within(text, limit), [] if whole else [Attached.text(file_name, text)]


def file_beside(interaction: discord.Interaction, what: str) -> discord.Attachment:
    """The first file of the message that was clicked. Raises `UserError` if there is none."""
    if interaction.message is None or not interaction.message.attachments:
        raise UserError(f"The {what} is gone.", next_step=Next.BEGIN_AGAIN)
    return interaction.message.attachments[0]


def data_of(interaction: discord.Interaction) -> Mapping[str, Any]:
    """What Discord sent with it, which differs from kind to kind."""
    return cast(Mapping[str, Any], interaction.data or {})


async def answer(
    interaction: discord.Interaction,
    text: str,
    *,
    files: Sequence[Attached] = (),
    view: discord.ui.View | None = None,
) -> None:
    """Answer the one person who began the interaction; a click's answer replaces nothing. A text
    that is too long for a message is also sent as a file."""
    whole = [Attached.text("answer.txt", text)] if len(text) > MESSAGE_LIMIT else []
    content, sent = message_of(text, [*whole, *files])
    shown = view or discord.utils.MISSING
    if not interaction.response.is_done():
        await interaction.response.send_message(content, files=sent, view=shown, ephemeral=True)
    elif interaction.type is discord.InteractionType.component:
        await interaction.followup.send(content, files=sent, view=shown, ephemeral=True)
    else:
        await interaction.edit_original_response(content=content, attachments=sent, view=view)


async def answer_however_late(
    interaction: discord.Interaction, text: str, files: Sequence[Attached]
) -> None:
    """Answer also later. After Discord's 15 minutes it is a message in the channel, which everyone
    sees, so that it begins with who had asked; nobody is told if the channel is closed to the
    bot."""
    if not interaction.is_expired():
        try:
            await answer(interaction, text, files=files)
        except discord.HTTPException as error:
            if error.code not in _EXPIRED:
                raise
        else:
            return
    if isinstance(interaction.channel, discord.abc.Messageable):
        told = f"{plain(interaction.user.name)}: {text}"
        whole = [Attached.text("answer.txt", text)] if len(told) > MESSAGE_LIMIT else []
        content, sent = message_of(told, [*files, *whole])
        try:
            await interaction.channel.send(content, files=sent)
        except (discord.Forbidden, discord.NotFound) as error:
            channel = interaction.channel_id
            log.warning("channel_unusable", channel=channel, error=str(error))
