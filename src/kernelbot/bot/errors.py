"""The one table from errors to what a person reads, and the one place that answers with them."""

import discord
import structlog
from discord import app_commands

from kernelbot.bot.answers import answer, answer_however_late, data_of
from kernelbot.domain.errors import KernelbotError, Paused, PlatformError
from kernelbot.domain.next_steps import Next
from kernelbot.render.markdown import plain

log = structlog.get_logger()

_UNKNOWN_INTERACTION = 10062
ADVICE: dict[Next, str] = {
    Next.TRY_AGAIN: "Try again in a moment.",
    Next.BEGIN_AGAIN: "Type the command again.",
    Next.LOG_IN: "Type the command again.",
    Next.ASK_ADMIN: "Ask an admin.",
    Next.ASK_ORGANISERS: "Ask the organisers.",
    Next.CHOOSE_ANOTHER_NAME: "Choose another name.",
    Next.NAME_BOARD: "Name one, or write `#!POPCORN leaderboard NAME` at the top of the file.",
    Next.LIST_BOARDS: "See: `/leaderboard list`",
    Next.LIST_SUBMISSIONS: "See: `/leaderboard show-personal`",
    Next.SHOW_SUBMISSION: "See: `/submission show`",
    Next.CANCEL_SUBMISSION: "Wait for one, or cancel one: `/submission cancel`",
    Next.LIST_ARTIFACTS: "See: `kernelbot submission artifacts ID`, in a terminal.",
    Next.LIST_USERS: "Name them as they are called here.",
    Next.LIST_IDENTITIES: "See: `kernelbot identity list`, in a terminal.",
    Next.LIST_TOKENS: "See: `kernelbot token list`, in a terminal.",
    Next.REVOKE_TOKENS: "Revoke some: `kernelbot token revoke ID`, in a terminal.",
    Next.LIST_INVITES: "See: `kernelbot invite list BOARD`, in a terminal.",
    Next.LIST_WEBHOOKS: "See: `kernelbot webhook list`, in a terminal.",
    Next.DELETE_WEBHOOKS: "Delete some: `kernelbot webhook delete ID`, in a terminal.",
    Next.REPLACE_WEBHOOK: (
        "If its secret is lost, delete it first: `kernelbot webhook delete ID`, in a terminal."
    ),
    Next.ENABLE_WEBHOOK: "Enable it first: `kernelbot webhook enable ID`, in a terminal.",
    Next.SHOW_WEBHOOK_LOG: "See: `kernelbot webhook log ID`, in a terminal.",
    Next.LIST_SIGNING_KEYS: "See: `kernelbot signing-key list`, in a terminal.",
    Next.CHANGE_CHAT_SETTINGS: "Change that: `/admin settings`",
    Next.MIGRATE_DATABASE: "Tell the organisers.",
    Next.FORCE: "In a terminal, `--force` deletes them as well.",
}
"""What to do next, for those in a chat, in its markdown."""


def sentence(error: KernelbotError) -> str:
    """What happened and what to do next, for a chat."""
    advice = error.advice(ADVICE)
    marked = plain(advice) if error.next_step is None else advice
    return f"❌ {plain_lines(str(error))}" + (f"\n{marked}" if marked else "")


def plain_lines(text: str) -> str:
    return "\n".join(plain(line) for line in text.splitlines())


def error_text(error: BaseException, did: str) -> str:
    """What a person reads of an error; what isn't their own, nor what organisers have decided, is
    logged with what they `did`."""
    if not isinstance(error, KernelbotError):
        log.error("interaction_crashed", command=did, exc_info=error)
        return "❌ Something broke on our side; the command was fine. Please try again later."
    if isinstance(error, PlatformError) and not isinstance(error, Paused):
        log.error("interaction_refused", command=did, error=str(error))
    return sentence(error)


async def report(interaction: discord.Interaction, error: BaseException) -> None:
    """Answer an interaction that failed, to the one person who began it; if that took longer than
    Discord's 15 minutes, in the channel."""
    cause = _cause(error)
    if isinstance(cause, discord.NotFound) and cause.code == _UNKNOWN_INTERACTION:
        age_s = (discord.utils.utcnow() - interaction.created_at).total_seconds()
        log.error("interaction_too_late", command=name_of(interaction), age_s=round(age_s, 2))
    elif isinstance(cause, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch):
        log.warning("command_outdated", command=name_of(interaction))
        await answer(interaction, "❌ The commands have changed. Reload Discord and try again.")
    else:
        await answer_however_late(interaction, error_text(cause, name_of(interaction)), ())


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
