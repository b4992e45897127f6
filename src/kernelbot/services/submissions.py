"""Submissions: taking them in, showing them, following and cancelling them."""

import builtins
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from kernelbot.domain.errors import Conflict, NotAllowed, NotFound, TooManyRequests
from kernelbot.domain.states import RunState, submission_state
from kernelbot.domain.types import (
    DeviceConfig,
    Event,
    Evidence,
    NewSubmission,
    QueuePlace,
    QueueRules,
    Role,
    Run,
    Submission,
    User,
)
from kernelbot.protocol import RunResult
from kernelbot.services import audit, intake, views
from kernelbot.services.boards import organised_board, visible_board
from kernelbot.services.code_visibility import CodeFacts, may_read_code
from kernelbot.services.devices import FRESH_S
from kernelbot.services.live import Listener
from kernelbot.services.places import Places
from kernelbot.services.queue_line import place_of
from kernelbot.services.roles import require_admin
from kernelbot.services.views import Look
from kernelbot.store import attempts, queue, reviews, submissions, upkeep
from kernelbot.store.database import Database, ReadSession, WriteSession
from kernelbot.store.intake import AddedRun, NewRow, add_submission
from kernelbot.store.queue import Queue, Waiting
from kernelbot.store.submissions import Place

_MAX_ID = 2**63 - 1
_RETRY_S = 10.0
log = structlog.get_logger()


class Submissions:
    """A submission is visible to whoever may read its code (`code_visibility`); its runs are
    judged by workers."""

    def __init__(
        self,
        database: Database,
        queue: Queue,
        listener: Listener,
        devices: tuple[DeviceConfig, ...],
        rules: QueueRules | None = None,
    ) -> None:
        self._database = database
        self._queue = queue
        self._listener = listener
        self._devices = tuple(device.spec.name for device in devices)
        self._slots = {device.spec.name: device.slots for device in devices}
        self._rules = rules or QueueRules()
        self._places = Places()

    async def submit(
        self, author: User, new: NewSubmission, *, late_by: User | None = None
    ) -> Submission:
        """As `take_in`, for those who don't ask for the place in the queue."""
        return (await self.take_in(author, new, late_by=late_by))[0]

    async def take_in(
        self, author: User, new: NewSubmission, *, late_by: User | None = None
    ) -> tuple[Submission, QueuePlace | None]:
        """Take in a submission: source, runs and their jobs appear in one transaction. Returned
        with its place in the queue. `late_by`: the admin who lets it in although the deadline may
        have passed.

        Raises, in this order of checks: `NotAllowed` where `late_by` is no admin,
        `DeviceNotOffered` for an unknown device, `SubmissionTooLarge`, `InvalidSubmission`,
        `Paused`, `Banned`, `NotFound`, `NotAllowed`, `BoardClosed`, `TooManyRequests`,
        `DeviceNotOffered`, `TooManyRequests` when too much of his waits.
        """
        if late_by is not None:
            require_admin(late_by)
        code = intake.check_upload(new, self._devices)
        async with self._database.write() as session:
            accepted = await intake.check(session, author, new, code, late=late_by is not None)
            board = accepted.board
            added, line = await add_submission(
                session,
                NewRow(
                    leaderboard_id=board.id,
                    problem_version_id=board.problem_version_id,
                    author_id=author.id,
                    file_name=new.file_name,
                    mode=new.mode,
                    code=code,
                    devices=accepted.devices,
                ),
                self._rules,
                fresh_s=FRESH_S,
            )
            self._check_waiting(added)
            if late_by is not None:
                detail = {"board": board.name, "author": author.name}
                subject = f"submission:{added[0].submission_id}"
                await audit.record(session, late_by, "submission.late", subject, detail)
        # With the request's id, which is bound: from here on the worker's lines tell of the runs.
        log.info("submitted", submission=added[0].submission_id, runs=[run.id for run in added])
        return views.new_submission(author, board, new, code, added), self._told(line)

    async def get(self, viewer: User, submission_id: int, *, files: bool = False) -> Submission:
        """One submission with its code and runs; the content of their files only with `files`,
        but for texts. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            look = await self._look(session, viewer, submission_id)
            return await _whole(session, look, files=files)

    async def look(self, viewer: User, submission_id: int) -> Look:
        """One submission as it is now, with its place in the queue: enough to tell whether what
        was shown of it is still true. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            look = await self._look(session, viewer, submission_id)
            if all(run.state is not RunState.QUEUED for run in look.runs):
                return look
            return replace(look, queue=await self._place(session, submission_id))

    async def whole(self, look: Look) -> Submission:
        """What was looked at with its code and results. Raises `NotFound`."""
        async with self._database.read() as session:
            return await _whole(session, look)

    async def measured(self, viewer: User, submission_id: int) -> builtins.list[Run]:
        """Its runs and those of rejudges after them, with the results that the viewer may see.

        Raises `NotFound`, `NotAllowed`.
        """
        async with self._database.read() as session:
            row = await visible(session, viewer, submission_id)
            own = (await submissions.runs(session, [row]))[submission_id]
            again = await submissions.rejudged_runs(session, row)
            secret = views.sees_secret(viewer)
            results = await submissions.results(session, submission_id, secret=secret)
        return views.with_results([*own, *again], results, secret=secret)

    async def list(
        self,
        viewer: User,
        *,
        board: str | None = None,
        limit: int = 50,
        before_id: int | None = None,
        offset: int = 0,
    ) -> builtins.list[Submission]:
        """The viewer's own, newest first, without code and results. `before_id` continues;
        `offset` passes over so many, for clients that count pages."""
        looks = await self.looks(
            viewer, board=board, limit=limit, before_id=before_id, offset=offset
        )
        return [look.listed() for look in looks]

    async def looks(
        self,
        viewer: User,
        *,
        board: str | None = None,
        limit: int = 50,
        before_id: int | None = None,
        offset: int = 0,
    ) -> builtins.list[Look]:
        """As `list`, with what each is made of: enough to tell whether it has changed."""
        if board is not None and "\x00" in board:
            return []
        async with self._database.read() as session:
            found = await submissions.of_author(
                session, viewer.id, board=board, limit=limit, before_id=before_id, offset=offset
            )
            runs, bests = await submissions.runs_and_bests(session, found)
            places: dict[int, tuple[Place, ...]] = {}
            for place in await self._places.of(session, bests):
                places[place.submission_id] = (*places.get(place.submission_id, ()), place)
        return [
            Look(row, tuple(runs[row.id]), places.get(row.id, ()), (), queue=None, secret=False)
            for row in found
        ]

    async def on_board(
        self, actor: User, board: str, *, limit: int = 100, offset: int = 0
    ) -> builtins.list[int]:
        """Everybody's on a board, by id, newest first. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            found = await organised_board(session, actor, board)
            return await submissions.on_board(session, found.id, limit=limit, offset=offset)

    async def cancel(self, viewer: User, submission_id: int) -> Submission:
        """Stop what waits or runs. Again: the same answer. Of what its author has seen a score,
        he doesn't rank the same code again. Raises `Conflict` when finished."""
        async with self._database.write() as session:
            row = await _own(session, viewer, submission_id)
            cancelled = await submissions.cancel_runs(session, submission_id)
            if cancelled and row.author_id == viewer.id:
                await upkeep.withdraw(session, [submission_id])
            await submissions.refresh_standings(session, submission_id)
            shown = await _whole(session, await self._look(session, viewer, submission_id))
            if cancelled and self._rules.running_limit is not None:
                await self._wake(session, shown)
        before = submission_state(run.state for run in shown.runs)
        if not cancelled and all(run.state != RunState.CANCELLED for run in shown.runs):
            raise Conflict(
                f"Submission {submission_id} is {before} already.",
                hint=f"See: kernelbot submission show {submission_id}",
            )
        return shown

    async def queue_place(self, submission_id: int) -> QueuePlace | None:
        """Where it stands on the device that it gets to first. None when nothing of it waits."""
        if not 0 < submission_id <= _MAX_ID:
            return None
        async with self._database.read() as session:
            return await self._place(session, submission_id)

    async def events(
        self, viewer: User, submission_id: int, *, after: int = 0
    ) -> AsyncIterator[Event]:
        """Events with an id above `after`, first those that were, then live; ends after the
        last. Raises `NotFound` or `NotAllowed` at the first step."""
        async with self._database.read() as session:
            await visible(session, viewer, submission_id)
        async with self._listener.following(str(submission_id)) as waker:
            while True:
                async with self._database.read() as session:
                    # In this order: what ended after the look at `ended` is seen next time.
                    ended = await submissions.ended(session, submission_id)
                    found = await submissions.events(session, submission_id, after)
                for event in found:
                    after = event.id
                    if (shown := views.event(event, viewer)) is not None:
                        yield shown
                if not found:
                    if ended:
                        return
                    await waker.wait()

    async def _place(self, session: ReadSession, submission_id: int) -> QueuePlace | None:
        return self._told(await queue.waiting(session, submission_id, self._rules, fresh_s=FRESH_S))

    def _told(self, line: Waiting | None) -> QueuePlace | None:
        if line is None:
            return None
        slots = self._slots.get(line.device, 1) * line.workers
        return place_of(line, slots, self._rules.running_limit)

    async def _wake(self, session: WriteSession, ended: Submission) -> None:
        """The author's next runs may have been passed over for his limit: bring jobs again."""
        for device in sorted({run.device for run in ended.runs}):
            waiting = await attempts.waiting_run(session, device, ended.author_id)
            if waiting is not None:
                await self._queue.defer(session, waiting.id, waiting.device, waiting.priority)

    def _check_waiting(self, added: builtins.list[AddedRun]) -> None:
        limit = self._rules.waiting_limit
        for run in added:
            if run.waiting > limit:
                raise TooManyRequests(
                    f"You have {limit} runs waiting for {run.device} already, the most that may.",
                    retry_after_s=_RETRY_S,
                    hint="Wait for one, or cancel one: kernelbot submission cancel ID",
                )

    async def _look(self, session: ReadSession, viewer: User, submission_id: int) -> Look:
        known = 0 < submission_id <= _MAX_ID
        found = await submissions.look(session, submission_id) if known else None
        if found is None:
            raise _no_submission(submission_id)
        row, runs, bests = found
        await _require_visible(session, viewer, row)
        places = await self._places.of(session, bests)
        noticed: tuple[Evidence, ...] = ()
        if viewer.role == Role.ADMIN:
            noticed = (await reviews.evidence(session, [row.id]))[row.id]
        secret = views.sees_secret(viewer)
        return Look(row, tuple(runs), tuple(places), noticed, queue=None, secret=secret)


async def _whole(session: ReadSession, look: Look, *, files: bool = False) -> Submission:
    code = await submissions.code(session, look.row.id)
    if code is None:
        raise _no_submission(look.row.id)
    results: dict[int, RunResult] = {}
    if any(run.state is RunState.FINISHED for run in look.runs):  # else there are none
        results = await submissions.results(session, look.row.id, secret=look.secret, files=files)
    return views.whole(look, code, results)


async def _existing(session: ReadSession, submission_id: int) -> submissions.SubmissionRow:
    """Raises `NotFound`."""
    known = 0 < submission_id <= _MAX_ID
    row = await submissions.one(session, submission_id) if known else None
    if row is None:
        raise _no_submission(submission_id)
    return row


async def visible(
    session: ReadSession, viewer: User, submission_id: int
) -> submissions.SubmissionRow:
    """Raises `NotFound`, and `NotAllowed` where its code isn't for this person's eyes."""
    row = await _existing(session, submission_id)
    await _require_visible(session, viewer, row)
    return row


async def _require_visible(
    session: ReadSession, viewer: User, row: submissions.SubmissionRow
) -> None:
    if viewer.id == row.author_id or viewer.role == Role.ADMIN:
        return
    if not await _may_read(session, viewer, row):
        raise _someone_elses(row.id)


async def _own(session: ReadSession, viewer: User, submission_id: int) -> submissions.SubmissionRow:
    """Raises as `visible`, also where others may read but not touch."""
    row = await visible(session, viewer, submission_id)
    if row.author_id != viewer.id and viewer.role != Role.ADMIN:
        raise _someone_elses(submission_id)
    return row


def _no_submission(submission_id: int) -> NotFound:
    return NotFound(
        f"There is no submission {submission_id}.", hint="See: kernelbot submission list"
    )


def _someone_elses(submission_id: int) -> NotAllowed:
    return NotAllowed(f"Submission {submission_id} is someone else's.")


async def _may_read(session: ReadSession, viewer: User, found: submissions.SubmissionRow) -> bool:
    try:
        board = await visible_board(session, viewer, found.board)
    except NotFound:
        return False
    facts = CodeFacts(
        author_id=found.author_id,
        organiser_id=found.creator_id,
        deadline=board.deadline,
        reveal_code=board.reveal_code,
        sees_board=True,
    )
    return may_read_code(viewer, facts, datetime.now(UTC))
