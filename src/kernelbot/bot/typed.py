"""What a person typed, chose or attached, and that a database must be able to store."""

from collections.abc import Iterator
from typing import Any

import discord

from kernelbot.bot.answers import data_of
from kernelbot.domain.bounds import storable
from kernelbot.domain.errors import UserError

_TYPED = ("options", "components", "values")


def require_storable(interaction: discord.Interaction) -> None:
    """Raises `UserError` for a NUL or half of a surrogate pair in what somebody typed: no command
    and no form has a use for either."""
    data = data_of(interaction)
    resolved = data.get("resolved") or {}
    for text in _texts([*(data.get(key) for key in _TYPED), resolved.get("attachments")]):
        try:
            storable(text)
        except ValueError as error:
            raise UserError(
                f"What you typed can't be read: {error}.", hint="Type it again."
            ) from None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
