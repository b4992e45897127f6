"""Takes submissions in: what is checked, and what is stored together."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.boards.limits.model import LimitCategory
from kernelbot.boards.limits.service import count_submission
from kernelbot.domain.errors import Conflict, TooManyRequests
from kernelbot.domain.next_steps import Next
from kernelbot.guilds.chat import store as chat
from kernelbot.moderation.audit import service as audit
from kernelbot.protocol import Mode
from kernelbot.render.text import counted
from kernelbot.runs.devices.service import FRESH_S
from kernelbot.runs.queue.model import DeviceQueuePosition, QueueRules
from kernelbot.runs.queue.store import WaitingRun
from kernelbot.store.database import Database, WriteSession
from kernelbot.submissions import store as submissions
from kernelbot.submissions import views
from kernelbot.submissions.creation import validation
from kernelbot.submissions.creation.store import NewRow, TooManyWait, add_submission
from kernelbot.submissions.creation.validation import SubmissionTarget
from kernelbot.submissions.forms import store as forms
from kernelbot.submissions.model import NewSubmission, Submission
from kernelbot.submissions.same_code import code_digest
from kernelbot.submissions.source import language_of

_RETRY_S = 10.0
_DIGESTED_AT_ONCE = 32_768
"""Characters; reading them takes some 30 ms."""
Made = tuple[Submission, DeviceQueuePosition | None]
"""A submission, and its place in the queue."""
log = structlog.get_logger()


class FormSent(Conflict):
    """The author's form was sent before."""


@dataclass(frozen=True)
class Sent:
    """A file that was sent, and what is noted along with it: `late_by`, the admin who accepts it
    although the deadline may have passed; `message_id`, of the chat's answer that tells of it; and
    `form`, the page's that it was sent by."""

    author: User
    new: NewSubmission
    code: str
    code_sha256: bytes | None
    """Its `code_digest`; None: nobody asked for it yet."""
    late_by: User | None = None
    message_id: int | None = None
    form: str | None = None

    @property
    def is_alone(self) -> bool:
        """Whether nothing is noted along with it."""
        return self.late_by is None and self.message_id is None and self.form is None


class Creation:
    """Creates submissions. `devices`: the names of those that exist, of which `processors` are no
    GPU; `position`: the place that a waiting run has."""

    def __init__(
        self,
        database: Database,
        devices: tuple[str, ...],
        processors: tuple[str, ...],
        rules: QueueRules,
        position: Callable[[WaitingRun | None], DeviceQueuePosition | None],
    ) -> None:
        self._database = database
        self._devices = devices
        self._processors = processors
        self._rules = rules
        self._position = position

    async def create(
        self,
        author: User,
        new: NewSubmission,
        *,
        late_by: User | None = None,
        message_id: int | None = None,
        form: str | None = None,
    ) -> Made:
        """What `Submissions.create` promises."""
        if late_by is not None:
            require_admin(late_by)
        code = validation.check_upload(new, self._devices)
        sent = Sent(author, new, code, await _digest(new, code), late_by, message_id, form)
        async with self._database.autocommit() as session:
            target = await self._check(session, sent) if sent.is_alone else None
            if target is not None and target.board.max_per_hour is None:
                made = await self._add(session, sent, target)  # a transaction by itself
            else:
                async with session.transaction():
                    made = await self._create(session, sent, target)
        # With the request's id, which is bound: from here on the worker's lines tell of the runs.
        log.info("submitted", submission=made[0].id, runs=[run.id for run in made[0].runs])
        return made

    async def _create(
        self, session: WriteSession, sent: Sent, target: SubmissionTarget | None
    ) -> Made:
        """Add it together with all that is noted along with it. `target`: None: it is still to be
        checked, behind whether the form was sent before."""
        author, form = sent.author, sent.form
        if form is not None and not await forms.claim(session, author.id, form):
            raise FormSent("This form was sent already.", next_step=Next.LIST_SUBMISSIONS)
        target = target or await self._check(session, sent)
        category = LimitCategory.for_mode(sent.new.mode)
        await count_submission(session, author, target.board, category)
        made = await self._add(session, sent, target)
        number = made[0].id
        if sent.late_by is not None:
            detail = {"board": target.board.name, "author": author.name}
            subject = f"submission:{number}"
            await audit.record(session, sent.late_by, "submission.late", subject, detail)
        if sent.message_id is not None:
            await _note_answer(session, sent.message_id, number)
        if form is not None:
            await forms.note(session, author.id, form, number)
        return made

    async def _check(self, session: WriteSession, sent: Sent) -> SubmissionTarget:
        late = sent.late_by is not None
        return await validation.check(
            session, sent.author, sent.new, sent.code, late=late, processors=self._processors
        )

    async def _add(self, session: WriteSession, sent: Sent, target: SubmissionTarget) -> Made:
        """Raises `TooManyRequests`; then nothing was added."""
        board, new = target.board, sent.new
        row = NewRow(
            leaderboard_id=board.id,
            problem_version_id=board.problem_version_id,
            author_id=sent.author.id,
            file_name=new.file_name,
            mode=new.mode,
            code=sent.code,
            devices=target.devices,
            code_sha256=sent.code_sha256,
        )
        try:
            added, line = await add_submission(session, row, self._rules, fresh_s=FRESH_S)
        except TooManyWait as error:
            raise self._too_many_wait(error.device) from None
        same, queued = None, self._position(line)
        if sent.code_sha256 is not None:
            same = await submissions.same_code(session, added[0].submission_id)
        made = views.new_submission(sent.author, board, new, sent.code, added, same, queued)
        return made, queued

    def _too_many_wait(self, device: str) -> TooManyRequests:
        limit = self._rules.waiting_limit
        return TooManyRequests(
            f"You have {counted(limit, 'run')} waiting for {device} already, the most that may.",
            retry_after_s=_RETRY_S,
            next_step=Next.CANCEL_SUBMISSION,
        )


async def _digest(new: NewSubmission, code: str) -> bytes | None:
    """The code's digest, by which the author learns at once that a ranked submission is the same
    code as another, and not when it has been judged. None: it isn't ranked, or reading it would
    take long; then it is found out when it was accepted."""
    if new.mode is not Mode.LEADERBOARD or len(code) > _DIGESTED_AT_ONCE:
        return None
    return await asyncio.to_thread(code_digest, code, language_of(new.file_name))


async def _note_answer(session: WriteSession, message_id: int, submission_id: int) -> None:
    if not await chat.submitted(session, message_id, submission_id):
        raise Conflict("Nothing was submitted: it took too long.", next_step=Next.BEGIN_AGAIN)
