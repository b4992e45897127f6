"""A submission's events as they come, for as long as who follows them may see them."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace

from kernelbot.accounts.model import User
from kernelbot.boards.service import no_submission
from kernelbot.platform.notifications import NotificationChannel
from kernelbot.store.database import Database, ReadSession
from kernelbot.store.shared_reads import SharedReads
from kernelbot.submissions import store as submissions
from kernelbot.submissions import views
from kernelbot.submissions.access import visible
from kernelbot.submissions.model import SubmissionEvent
from kernelbot.submissions.store import Happened

Again = Callable[[], Awaitable[User]]
"""Who follows, as the account is now. Raises `NotAuthenticated` once what they showed has ended."""
ASK_AGAIN_S = 5.0


@dataclass(frozen=True)
class EventsAsked:
    """Events of a submission with an id above `after`."""

    submission_id: int
    after: int


async def read_events(session: ReadSession, asked: EventsAsked) -> Happened | None:
    """The next of them, as many as are read at once; None: the submission was deleted."""
    return await submissions.events(session, asked.submission_id, asked.after)


@dataclass
class LiveFollower:
    """A connection that follows submissions."""

    viewer: User
    again: Again | None
    """None: what they follow with can't end, and their account's rights matter as they were."""
    ask_again_s: float
    _asked_s: float = field(default_factory=time.monotonic)

    async def may_still_see(self, database: Database, submission_id: int) -> None:
        """Ask again, if it is time. Raises `NotAuthenticated`, `NotFound`, `NotAllowed`."""
        if time.monotonic() - self._asked_s < self.ask_again_s:
            return
        if self.again is not None:
            self.viewer = await self.again()
        async with database.read() as session:
            await visible(session, self.viewer, submission_id)
        self._asked_s = time.monotonic()


async def live_events(
    database: Database,
    happened: SharedReads[EventsAsked, Happened | None],
    events: NotificationChannel,
    follower: LiveFollower,
    asked: EventsAsked,
) -> AsyncGenerator[list[SubmissionEvent], None]:
    """Batches of the events that are `asked` for, until the last. Raises `NotAuthenticated`,
    `NotFound` or `NotAllowed` soon after the follower may no longer see them, in silence after as
    long as `Waker` waits."""
    async with events.following(str(asked.submission_id)) as waker:
        while True:
            await follower.may_still_see(database, asked.submission_id)
            found = await happened.get(asked)
            if found is None:  # also where it isn't time to ask again who may see it
                raise no_submission(asked.submission_id)
            after = max((event.id for event in found.events), default=asked.after)
            asked = replace(asked, after=after)
            shown = [views.event(event, follower.viewer) for event in found.events]
            if batch := [event for event in shown if event is not None]:
                yield batch
            if found.is_over:
                return
            if found.is_all:  # what is announced meanwhile ends the wait at once
                await waker.wait()
