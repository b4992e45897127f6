"""The one table from errors to what a person reads, and the one place that answers with them."""

import discord
import structlog
from discord import app_commands

from kernelbot.bot.answers import answer, data_of
from kernelbot.domain.errors import KernelbotError, PlatformError
from kernelbot.render.markdown import plain

log = structlog.get_logger()

_UNKNOWN_INTERACTION, _EXPIRED_TOKEN = 10062, 50027
_HINTS = {
    "See: kernelbot board list": "See: `/leaderboard list`",
    "See: kernelbot submission list": "See: `/leaderboard show-personal`",
    "See: kernelbot user list": "Name them as they are called here.",
    "Choose another with --name.": "Choose another name.",
    "Use --board, or write `#!POPCORN leaderboard NAME` at the top of the file.": (
        "Name one, or write `#!POPCORN leaderboard NAME` at the top of the file."
    ),
}
"""Hints that speak of the terminal, as they are here."""


def sentence(error: KernelbotError) -> str:
    """What happened and what to do next, for a chat."""
    hint = _HINTS.get(error.hint, "" if "kernelbot " in error.hint else error.hint)
    marked = hint if error.hint in _HINTS else plain(hint)
    return f"❌ {plain_lines(str(error))}" + (f"\n{marked}" if marked else "")


def plain_lines(text: str) -> str:
    """As `plain`, line by line."""
    return "\n".join(plain(line) for line in text.splitlines())


def told(error: BaseException, did: str) -> str:
    """What a person reads of an error; what isn't their own is logged with what they `did`."""
    if not isinstance(error, KernelbotError):
        log.error("interaction_crashed", command=did, exc_info=error)
        return "❌ Something broke on our side; the command was fine. Please try again later."
    if isinstance(error, PlatformError):
        log.error("interaction_refused", command=did, error=str(error))
    return sentence(error)


async def report(interaction: discord.Interaction, error: BaseException) -> None:
    """Answer an interaction that failed, to the one person who began it."""
    cause = _cause(error)
    if isinstance(cause, discord.NotFound) and cause.code == _UNKNOWN_INTERACTION:
        age_s = (discord.utils.utcnow() - interaction.created_at).total_seconds()
        log.error("interaction_too_late", command=name_of(interaction), age_s=round(age_s, 2))
    elif isinstance(cause, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch):
        log.warning("command_outdated", command=name_of(interaction))
        await answer(interaction, "❌ The commands have changed. Reload Discord and try again.")
    else:
        await answer(interaction, told(cause, name_of(interaction)))


def name_of(interaction: discord.Interaction) -> str:
    """For the log: the command, or the id of the button."""
    if interaction.command is not None:
        return interaction.command.qualified_name
    data = data_of(interaction)
    return str(data.get("custom_id") or data.get("name") or "?")


def _cause(error: BaseException) -> BaseException:
    if isinstance(error, app_commands.CommandInvokeError | app_commands.TransformerError):
        return error.original if isinstance(error, app_commands.CommandInvokeError) else error
    return error
