"""The one message that tells of a submission: an answer first, later a message of the channel."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import discord
import structlog

from kernelbot.bot.answers import Attached, message_of
from kernelbot.guilds.model import ChatAnswer
from kernelbot.render.markdown import MESSAGE_LIMIT
from kernelbot.render.text import shorten

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_GONE = (10008, 10015, 50027)
"""Discord's codes: unknown message, unknown webhook, a token whose time is over."""
_PASSING = (401, 408, 429)
"""Refusals that say nothing of what was asked: our own token, our slowness, too many requests."""
log = structlog.get_logger()


def is_refused_for_good(error: discord.HTTPException) -> bool:
    """Whether Discord would refuse the same again, e.g. because a thread is archived."""
    return 400 <= error.status < 500 and error.status not in _PASSING


class LiveMessage:
    """Changes the answer while its token lasts, which only its author sees; after that, after the
    author has dismissed it, and if Discord refuses a change of it, says what everyone may read in
    the channel."""

    def __init__(self, bot: "KernelBot", answer: ChatAnswer) -> None:
        self._bot = bot
        self._answer = answer
        self._private = answer.token is not None
        self._public_id = answer.public_message_id
        self.edits = 0

    async def show(self, private: str, public: str, files: Sequence[Attached] = ()) -> None:
        """Let it say this from now on. Nobody is told if the channel is closed to the bot, or
        Discord refuses it there for another reason that doesn't pass."""
        self.edits += 1
        if self._private and await self._edit_answer(private, files):
            return
        self._private = False
        try:
            await self._say(shorten(public, MESSAGE_LIMIT))
        except discord.HTTPException as error:
            if not is_refused_for_good(error):
                raise
            log.warning("channel_unusable", channel=self._answer.channel_id, error=str(error))

    async def _edit_answer(self, text: str, files: Sequence[Attached]) -> bool:
        token = self._answer.token
        if token is None or self._answer.token_expires_at <= datetime.now(UTC):
            return False
        application = self._bot.application_id
        assert application is not None, "it is logged in"
        webhook = discord.Webhook.partial(application, token, client=self._bot)
        content, sent = message_of(text, files)
        try:
            await webhook.edit_message(
                self._answer.message_id, content=content, attachments=sent, view=None
            )
        except discord.HTTPException as error:
            if error.code in _GONE or error.status == 401:
                return False
            if not is_refused_for_good(error):
                raise
            log.warning("answer_unusable", answer=self._answer.message_id, error=str(error))
            # It may be the files: together they may be larger than this place takes.
            return bool(files) and await self._edit_answer(text, ())
        return True

    @property
    def _nonce(self) -> str:
        return f"s{self._answer.submission_id or self._answer.message_id}"

    async def _say(self, text: str) -> None:
        channel = self._bot.get_partial_messageable(
            self._answer.channel_id, guild_id=self._answer.guild_id
        )
        if self._public_id is not None:
            await channel.get_partial_message(self._public_id).edit(content=text)
            return
        # Discord doesn't send a message with a nonce twice, if we stop before it is kept.
        sent = await channel.send(text, nonce=self._nonce)
        self._public_id = sent.id
        await self._bot.services.chat.went_public(self._answer, sent.id)
