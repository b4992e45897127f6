"""Answers to interactions, within Discord's limits."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import discord

from kernelbot.render.markdown import MESSAGE_LIMIT
from kernelbot.render.text import shorten

_FILES = 10
_FILE_BYTES = 9 << 20
_NAME = 100


@dataclass(frozen=True)
class Attached:
    """A file of an answer; its text may be long."""

    name: str
    content: bytes

    @classmethod
    def text(cls, name: str, text: str) -> "Attached":
        """A text file."""
        return cls(name, text.encode("utf-8", "replace"))

    def file(self) -> discord.File:
        """For one message: discord.py uses it up."""
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in self.name)[-_NAME:]
        return discord.File(io.BytesIO(self.content[:_FILE_BYTES]), name.lstrip(".") or "file")


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
    """Answer the one person who began the interaction; a click's answer replaces nothing."""
    content = shorten(text, MESSAGE_LIMIT)
    sent = [one.file() for one in files[:_FILES]]
    shown = view or discord.utils.MISSING
    if not interaction.response.is_done():
        await interaction.response.send_message(content, files=sent, view=shown, ephemeral=True)
    elif interaction.type is discord.InteractionType.component:
        await interaction.followup.send(content, files=sent, view=shown, ephemeral=True)
    else:
        await interaction.edit_original_response(content=content, attachments=sent, view=view)
