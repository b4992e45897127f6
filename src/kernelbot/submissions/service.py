"""Submissions: creating, showing, following and cancelling them."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import is_admin
from kernelbot.accounts.tokens.text import token_hash
from kernelbot.boards.service import no_submission
from kernelbot.domain.errors import Conflict
from kernelbot.domain.ids import can_be_id
from kernelbot.domain.moments import Moment
from kernelbot.domain.next_steps import Next
from kernelbot.domain.states import RunState, submission_state
from kernelbot.moderation.audit import service as audit
from kernelbot.moderation.deletion import store as deletion
from kernelbot.moderation.reviews import store as reviews
from kernelbot.moderation.reviews.model import Evidence
from kernelbot.platform.notifications import NotificationChannel
from kernelbot.preflight.model import Preflight
from kernelbot.protocol import RunResult, Vendor
from kernelbot.ranking.places import RankCache
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.devices.service import FRESH_S, NOBODY
from kernelbot.runs.queue import store as queue
from kernelbot.runs.queue.model import DeviceQueuePosition, QueueRules
from kernelbot.runs.queue.store import WaitingRun
from kernelbot.runs.queue.wait_estimate import estimate_position
from kernelbot.runs.samples.model import SampledWorkload
from kernelbot.runs.samples.rules import may_see_samples, sampled_workloads
from kernelbot.store.database import Database, ReadSession
from kernelbot.store.shared_reads import SharedReads
from kernelbot.submissions import looks, views
from kernelbot.submissions import store as submissions
from kernelbot.submissions.access import as_shown_to, own, require_visible, visible
from kernelbot.submissions.creation.service import Creation
from kernelbot.submissions.live import (
    ASK_AGAIN_S,
    Again,
    EventsAsked,
    LiveFollower,
    live_events,
    read_events,
)
from kernelbot.submissions.model import NewSubmission, Submission, SubmissionEvent
from kernelbot.submissions.preflights import store as preflights
from kernelbot.submissions.views import SubmissionSnapshot


@dataclass(frozen=True)
class SubmissionLook:
    """What tells whether an answer about a submission to its author is still true: as long as
    `stamp` and place are the same. `moment`: when that was found; None: it was found beside the
    answer, and nobody asks whether it lasts."""

    owner_id: int
    stamp: int
    queue: DeviceQueuePosition | None
    moment: Moment | None = field(default=None, compare=False)


class Submissions:
    """A submission is visible to whoever may read its code (`code_visibility`); its runs are
    judged by workers."""

    def __init__(
        self,
        database: Database,
        events: NotificationChannel,
        devices: tuple[DeviceConfig, ...],
        rules: QueueRules | None = None,
    ) -> None:
        self._database = database
        self._events = events
        self._slots = {device.spec.name: device.slots for device in devices}
        self._rules = rules or QueueRules()
        names = tuple(device.spec.name for device in devices)
        processors = tuple(one.spec.name for one in devices if one.spec.vendor is Vendor.CPU)
        self._creation = Creation(database, names, processors, self._rules, self._position)
        self._places = RankCache()
        self._happened = SharedReads(database, read_events)
        self._lines = SharedReads(database, self._line)

    async def submit(
        self, author: User, new: NewSubmission, *, late_by: User | None = None
    ) -> Submission:
        """What `create` does, for those who don't ask for the place in the queue."""
        return (await self.create(author, new, late_by=late_by))[0]

    async def create(
        self,
        author: User,
        new: NewSubmission,
        *,
        late_by: User | None = None,
        message_id: int | None = None,
        form: str | None = None,
    ) -> tuple[Submission, DeviceQueuePosition | None]:
        """Create a submission: source, runs and first events appear in one transaction. Returned
        with its place in the queue. `late_by`: the admin who accepts it although the deadline may
        have passed. Noted along with it: `message_id`, of the chat's answer that tells of it, and
        `form`, the page's that it was sent by; of several sendings at once one makes it.

        Raises, in this order of checks: `NotAllowed` if `late_by` is no admin,
        `DeviceNotOffered` for an unknown device, `SubmissionTooLarge`, `InvalidSubmission`,
        `Paused`, `Banned`, `NotFound`, `NotAllowed`, `BoardClosed`, `DeviceNotOffered`,
        `DeviceUnavailable`, `TooManyRequests`, also if too many of the author's runs wait, and
        `Conflict` if the answer was given up. `FormSent` comes before what the transaction checks.
        """
        return await self._creation.create(
            author, new, late_by=late_by, message_id=message_id, form=form
        )

    async def get(self, viewer: User, submission_id: int, *, files: bool = False) -> Submission:
        """One submission with its code and runs; the content of their files only with `files`,
        but for texts. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            snapshot = await self._snapshot(session, viewer, submission_id)
            return await _whole(session, snapshot, files=files)

    async def snapshot(
        self, viewer: User, submission_id: int, *, stamped: bool = False
    ) -> SubmissionSnapshot:
        """One submission as it is now, with its place in the queue: enough to tell whether what
        was shown of it is still true; with what `look` finds of it if it is to be `stamped`. Raises
        `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            return await self._snapshot(session, viewer, submission_id, stamped=stamped)

    async def look(
        self, token: str, submission_id: int, seen: SubmissionLook | None = None
    ) -> SubmissionLook | None:
        """Whether what the token's owner was shown of a submission of theirs is still true; None:
        the token isn't valid, or isn't the author's. `seen`: what the last look found, which is
        found again if nothing in the database has changed since."""
        if not can_be_id(submission_id):
            return None
        moment = seen.moment.lasting if seen and seen.moment else None
        async with self._database.read() as session:
            found = await looks.look(
                session,
                token_hash(token),
                submission_id,
                self._rules,
                fresh_s=FRESH_S,
                moment=moment,
            )
        if found is None:
            return None
        if found.stamp is None:
            return seen if seen and found.owner_id == seen.owner_id else None
        return SubmissionLook(found.owner_id, found.stamp, self._position(found.line), found.moment)

    async def whole(self, snapshot: SubmissionSnapshot) -> Submission:
        """What was looked at with its code and results. Raises `NotFound`."""
        async with self._database.read() as session:
            return await _whole(session, snapshot)

    async def measured(self, viewer: User, submission_id: int) -> list[SampledWorkload]:
        """What was timed in its runs and then in those of rejudges, as far as it is for the viewer.

        Raises `NotFound`, `NotAllowed`.
        """
        async with self._database.read() as session:
            row = await visible(session, viewer, submission_id)
            own = await submissions.entries(session, [submission_id])
            again = await submissions.rejudged_runs(session, row)
            results = await submissions.results(session, submission_id)
        secret = views.sees_secret(viewer)
        return [
            load
            for run in (*(run for found in own for run in found.runs), *again)
            if run.id in results
            and may_see_samples(run, sees_secret=secret, seed_is_shared=row.seed_is_shared)
            for load in sampled_workloads(run, results[run.id], names_data=secret or not run.secret)
        ]

    async def cancel(self, viewer: User, submission_id: int) -> Submission:
        """Stop what waits or runs. Again: the same answer. Once the author has seen a
        score, the same code isn't ranked again. Raises `Conflict` when finished."""
        async with self._database.write() as session:
            row = await own(session, viewer, submission_id)
            cancelled = await submissions.cancel_runs(session, submission_id)
            if cancelled and row.author_id == viewer.id:
                await deletion.withdraw(session, [submission_id])
            elif cancelled:
                detail: audit.Detail = {"board": row.board, "author_id": row.author_id}
                target = f"submission:{submission_id}"
                await audit.record(session, viewer, "submission.cancel", target, detail)
            await submissions.refresh_standings(session, submission_id)
            shown = await _whole(session, await self._snapshot(session, viewer, submission_id))
        before = submission_state(run.state for run in shown.runs)
        if not cancelled and all(run.state != RunState.CANCELLED for run in shown.runs):
            raise Conflict(
                f"Submission {submission_id} is {before} already.", next_step=Next.SHOW_SUBMISSION
            )
        return shown

    async def queue_position(self, submission_id: int) -> DeviceQueuePosition | None:
        """Where it stands on the device that it gets to first. None when nothing of it waits."""
        if not can_be_id(submission_id):
            return None
        return self._position(await self._lines.get(submission_id))

    async def _line(self, session: ReadSession, submission_id: int) -> WaitingRun | None:
        return await queue.waiting(session, submission_id, self._rules, fresh_s=FRESH_S)

    async def events(
        self, viewer: User, submission_id: int, *, after: int = 0, again: Again | None = None
    ) -> AsyncIterator[SubmissionEvent]:
        """Events with an id above `after`, first those that were, then live; ends after the
        last. Raises `NotFound` or `NotAllowed` at the first step, and what `follow` says."""
        followed = await self.follow(viewer, submission_id, after=after, again=again)
        async with aclosing(followed) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    async def follow(
        self,
        viewer: User,
        submission_id: int,
        *,
        after: int = 0,
        again: Again | None = None,
        ask_again_s: float = ASK_AGAIN_S,
    ) -> AsyncGenerator[list[SubmissionEvent], None]:
        """What `events` gives, in batches of those that came together, and for who has to know
        first whether they may have it. Raises `NotFound`, `NotAllowed`.

        Asked again after `ask_again_s`, a batch raises them as well, and `NotAuthenticated`.
        `again`: see `LiveFollower`.
        """
        async with self._database.read() as session:
            await visible(session, viewer, submission_id)
        follower = LiveFollower(viewer, again, ask_again_s)
        asked = EventsAsked(submission_id, after)
        return live_events(self._database, self._happened, self._events, follower, asked)

    def _position(self, line: WaitingRun | None) -> DeviceQueuePosition | None:
        if line is None:
            return None
        slots = self._slots.get(line.device, 1) * line.workers
        queued = estimate_position(line, slots, self._rules.running_limit)
        if line.workers:
            return queued
        return replace(queued, note=NOBODY if line.note is None else line.note)

    async def _snapshot(
        self, session: ReadSession, viewer: User, submission_id: int, *, stamped: bool = False
    ) -> SubmissionSnapshot:
        found = None
        if can_be_id(submission_id):
            found = await submissions.snapshot(
                session, submission_id, self._rules, fresh_s=FRESH_S, stamped=stamped
            )
        if found is None:
            raise no_submission(submission_id)
        row = found.submission
        await require_visible(session, viewer, row)
        places = await self._places.get_ranked(session, list(found.bests))
        noticed: tuple[Evidence, ...] = ()
        if is_admin(viewer):
            noticed = (await reviews.evidence(session, [row.id]))[row.id]
        secret = views.sees_secret(viewer)
        return SubmissionSnapshot(
            as_shown_to(viewer, row),
            found.runs,
            tuple(places),
            noticed,
            queue=self._position(found.line),
            secret=secret,
            preflights=found.preflights,
            stamp=None if secret or row.author_id != viewer.id else found.stamp,
        )


async def _whole(
    session: ReadSession, snapshot: SubmissionSnapshot, *, files: bool = False
) -> Submission:
    code = await submissions.code(session, snapshot.row.id)
    if code is None:
        raise no_submission(snapshot.row.id)
    results: dict[int, RunResult] = {}
    if any(run.state is RunState.FINISHED for run in snapshot.runs):  # else there are none
        results = await submissions.results(session, snapshot.row.id, files=files)
    told: tuple[Preflight, ...] = ()
    if snapshot.preflights:
        told = await preflights.preflights(session, snapshot.preflights)
    return views.whole(snapshot, code, results, told)
