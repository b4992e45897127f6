"""Answers in a chat that tell of submissions: kept, so that a bot that starts again goes on."""

from collections.abc import Sequence

from kernelbot.accounts.model import User
from kernelbot.domain.errors import Conflict
from kernelbot.domain.next_steps import Next
from kernelbot.guilds.chat import store as chat
from kernelbot.guilds.model import ChatAnswer
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.store.database import Database
from kernelbot.submissions.model import NewSubmission, Submission
from kernelbot.submissions.service import Submissions


class Chat:
    """One message, one submission, however often its button is clicked."""

    def __init__(self, database: Database, submissions: Submissions) -> None:
        self._database = database
        self._submissions = submissions
        self._submitting: set[int] = set()
        """The messages for which this process is submitting something just now."""

    async def submit(
        self, author: User, new: NewSubmission, answer: ChatAnswer
    ) -> tuple[Submission, DeviceQueuePosition | None]:
        """Submit, and keep the answer that will tell of it: first that it will, and then, in one
        transaction, the submission and that the answer tells of it. Raises as
        `Submissions.create`, and `Conflict` if the message was used already."""
        if answer.message_id in self._submitting:
            raise _used_already()
        self._submitting.add(answer.message_id)
        try:
            return await self._submit(author, new, answer)
        finally:
            self._submitting.discard(answer.message_id)

    async def _submit(
        self, author: User, new: NewSubmission, answer: ChatAnswer
    ) -> tuple[Submission, DeviceQueuePosition | None]:
        async with self._database.write() as session:
            if not await chat.claim(session, answer):
                raise _used_already()
        try:
            return await self._submissions.create(author, new, message_id=answer.message_id)
        except Exception:  # its author reads why; if we are stopped, a later bot tells them
            async with self._database.write() as session:
                await chat.release(session, answer.message_id)
            raise

    async def give_up(self, answer: ChatAnswer) -> ChatAnswer | None:
        """Submit nothing any more for an answer of a bot that stopped before it submitted. If
        something was submitted, the answer as it stands."""
        async with self._database.write() as session:
            return await chat.give_up(session, answer.message_id)

    async def went_public(self, answer: ChatAnswer, public_message_id: int) -> None:
        """The interaction's time is over; it goes on as a message of the channel."""
        async with self._database.write() as session:
            await chat.went_public(session, answer.message_id, public_message_id)

    async def done(self, answer: ChatAnswer) -> None:
        async with self._database.write() as session:
            await chat.done(session, answer.message_id)

    async def open_answers(self, guild_ids: Sequence[int]) -> list[ChatAnswer]:
        """What a bot that starts or connects anew has to go on with, also answers for which nothing
        is submitted yet; but none for which this process is submitting."""
        submitting = frozenset(self._submitting)
        async with self._database.read() as session:
            found = await chat.open_answers(session, guild_ids)
        return [one for one in found if one.message_id not in submitting | self._submitting]


def _used_already() -> Conflict:
    return Conflict("This was submitted already.", next_step=Next.BEGIN_AGAIN)
