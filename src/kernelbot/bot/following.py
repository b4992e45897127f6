"""Tells of submissions while they are judged, and goes on with it after a restart."""

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

import aiohttp
import discord
import structlog

from kernelbot.accounts.model import User
from kernelbot.bot import report
from kernelbot.bot.answers import Attached
from kernelbot.bot.live import LiveMessage, is_refused_for_good
from kernelbot.bot.progress import ProgressMessage, heading
from kernelbot.domain.errors import KernelbotError, NotFound, Unavailable
from kernelbot.guilds.model import ChatAnswer
from kernelbot.render.charts import progress_chart
from kernelbot.render.markdown import plain
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.submissions.model import RankedOutcome, Submission
from kernelbot.submissions.pacing import paced

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_QUEUE_S = 5.0
_RETRY_S = 2.0
_SOON_S = 0.01
_OF_CLOSED_BOARD = "Its author sees with `/submission show id:{0}` what became of submission {0}."
_NOT_SUBMITTED = (
    "❌ Nothing was submitted: the bot was stopped before it could. Please type the command again."
)
_NOT_LINKED = (
    "Your account isn't linked to Discord any more: its pages say what became of your submission."
)
_TROUBLES = (Unavailable, discord.HTTPException, aiohttp.ClientError, OSError)
"""What passes: the database or Discord is away for a while."""
log = structlog.get_logger()


class SubmissionFollower:
    """One task for each submission that is told of."""

    def __init__(self, bot: "KernelBot") -> None:
        self._bot = bot
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def follow(
        self, answer: ChatAnswer, submission: Submission, queued: DeviceQueuePosition | None = None
    ) -> None:
        """Tell of it until its end, in the background."""
        self._start(answer, submission, queued)

    async def resume(self, guild_ids: list[int]) -> None:
        """Go on with what wasn't done when the bot stopped."""
        for answer in await self._bot.services.chat.open_answers(guild_ids):
            self._start(answer, None, None)

    async def close(self) -> None:
        """Stop telling; the database knows what is left."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _start(
        self, answer: ChatAnswer, submission: Submission | None, queued: DeviceQueuePosition | None
    ) -> None:
        key = answer.message_id
        if key in self._tasks:
            return
        task = asyncio.create_task(self._tell(answer, submission, queued), name=f"follow {key}")
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._ended(key, done))

    def _ended(self, key: int, task: asyncio.Task[None]) -> None:
        self._tasks.pop(key, None)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # the next bot that starts goes on with it
            log.error("following_crashed", answer=key, exc_info=error)

    async def _tell(
        self, answer: ChatAnswer, submission: Submission | None, queued: DeviceQueuePosition | None
    ) -> None:
        live = LiveMessage(self._bot, answer)
        while True:
            try:
                if answer.submission_id is None:
                    answer = await self._give_up(live, answer)
                if answer.submission_id is not None:
                    await self._tell_once(live, answer, submission, queued)
                await self._bot.services.chat.done(answer)
            except _TROUBLES as error:
                log.warning("following_interrupted", answer=answer.message_id, error=str(error))
                await asyncio.sleep(_RETRY_S)
                submission = queued = None
                continue
            log.info("followed", submission=answer.submission_id, edits=live.edits)
            return

    async def _give_up(self, live: LiveMessage, answer: ChatAnswer) -> ChatAnswer:
        """Say that a bot stopped before it submitted this. If it had just submitted, the answer as
        it stands."""
        submitted = await self._bot.services.chat.give_up(answer)
        if submitted is None:
            await live.show(_NOT_SUBMITTED, f"{plain(answer.user_name)}: {_NOT_SUBMITTED}")
        return submitted or answer

    async def _tell_once(
        self,
        live: LiveMessage,
        answer: ChatAnswer,
        submission: Submission | None,
        queued: DeviceQueuePosition | None,
    ) -> None:
        services = self._bot.services
        assert answer.submission_id is not None, "only those are kept"
        # Nobody gets an account by what the bot does by itself.
        author = await services.guilds.account(answer.user_id)
        if author is None:
            await live.show(_NOT_LINKED, "It can't be shown any more.")
            return
        try:
            submission = submission or await services.submissions.get(author, answer.submission_id)
            await self._show_progress(live, author, submission, queued)
            await self._show_end(live, author, answer)
        except NotFound:
            gone = "It was deleted meanwhile."
            await live.show(gone, gone)
        except KernelbotError as error:
            if isinstance(error, Unavailable):
                raise
            await live.show(plain(str(error)), "It can't be shown any more.")

    async def _show_progress(
        self,
        live: LiveMessage,
        author: User,
        submission: Submission,
        queued: DeviceQueuePosition | None,
    ) -> None:
        """Change the message at most once in `edit_pause_s`, whatever happens in between."""
        services, pause_s = self._bot.services, self._bot.rules.edit_pause_s
        progress = ProgressMessage(submission, queued)
        shown, shown_at_s = "", time.monotonic() - pause_s
        events = services.submissions.events(author, submission.id)

        def patience_s() -> float:
            if progress.text == shown:
                return _QUEUE_S
            return max(_SOON_S, shown_at_s + pause_s - time.monotonic())

        async with contextlib.aclosing(paced(events, patience_s)) as steps:
            async for event in steps:
                if event is not None:
                    progress.add(event)
                elif progress.text == shown:
                    if progress.waits:
                        progress.queued = await services.submissions.queue_position(submission.id)
                    continue
                if event is None and progress.text != shown:
                    shown, shown_at_s = progress.text, time.monotonic()
                    public = f"{plain(submission.author)}: {shown}"
                    await live.show(shown, await self._for_everyone(submission, public))

    async def _show_end(self, live: LiveMessage, author: User, answer: ChatAnswer) -> None:
        services = self._bot.services
        assert answer.submission_id is not None
        submission = await services.submissions.get(author, answer.submission_id, files=True)
        outcomes = await services.outcomes.for_submission(author, submission.id)
        await live.show(
            report.final_text(submission, outcomes),
            await self._for_everyone(submission, report.public_text(submission, outcomes)),
            [*await self._pictures(author, submission, outcomes), *report.files(submission)],
        )
        await self._tell_everyone(answer, submission, outcomes)

    async def _for_everyone(self, submission: Submission, text: str) -> str:
        """The text, unless everyone may not even know of the board."""
        if await self._everyone_sees(submission.board):
            return text
        return _OF_CLOSED_BOARD.format(submission.id)

    async def _everyone_sees(self, board: str) -> bool:
        try:
            await self._bot.services.boards.get(None, board)
        except NotFound:
            return False
        return True

    async def _pictures(
        self, author: User, submission: Submission, outcomes: list[RankedOutcome]
    ) -> list[Attached]:
        """The author's progress on each device, once there is some."""
        found = []
        for one in outcomes:
            services = self._bot.services
            achieved = await services.outcomes.progress(author, submission.id, one.run.device)
            if len(achieved) > 1:
                title = f"{submission.author} on {submission.board} ({one.run.device})"
                chart = progress_chart(title, achieved)
                found += await self._bot.pictures.draw(f"progress-{one.run.device}.png", chart)
        return found

    async def _tell_everyone(
        self, answer: ChatAnswer, submission: Submission, outcomes: list[RankedOutcome]
    ) -> None:
        """A new personal best is worth a line in the channel, if everyone may see the board."""
        places = self._bot.places.get(answer.guild_id)
        channel_id = (places and places.submissions_id) or answer.channel_id
        text = report.bests_text(submission, outcomes)
        if not text or not await self._everyone_sees(submission.board):
            return
        channel = self._bot.get_partial_messageable(channel_id, guild_id=answer.guild_id)
        try:
            await channel.send(text, nonce=f"best{submission.id}")
        except discord.HTTPException as error:
            if not is_refused_for_good(error):
                raise
            log.warning("channel_unusable", channel=channel_id, error=str(error))


def waiting_text(submission: Submission, queued: DeviceQueuePosition | None) -> str:
    """What is said at once."""
    return ProgressMessage(submission, queued).text if queued else heading(submission)
