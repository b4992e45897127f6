"""Submitting by a form that may be sent twice: a click too many, a page loaded again."""

import asyncio
import re

from kernelbot.domain.errors import Conflict, UserError
from kernelbot.domain.types import NewSubmission, User
from kernelbot.services.submissions import Submissions
from kernelbot.store import forms
from kernelbot.store.database import Database

_FORM = re.compile(r"[A-Za-z0-9_-]{16,64}")
_ASKED = 30
_PAUSE_S = 0.1


class Forms:
    """One form, one submission, however often it is sent."""

    def __init__(self, database: Database, submissions: Submissions) -> None:
        self._database = database
        self._submissions = submissions

    async def submit(self, author: User, new: NewSubmission, form: str) -> int:
        """The number of the form's submission, which is made now if there is none yet. A form that
        was refused may be sent again. Raises as `Submissions.create`, and `Conflict` if the form
        was sent before and it isn't known what became of it."""
        if not _FORM.fullmatch(form):
            raise UserError("This form is out of date.", hint="Load the page again.")
        async with self._database.write() as session:
            claimed = await forms.claim(session, author.id, form)
        if not claimed:
            return await self._made_before(author, form)
        try:
            submission = await self._submissions.submit(author, new)
        except BaseException:  # its author reads why, and may send it again
            async with self._database.write() as session:
                await forms.release(session, author.id, form)
            raise
        async with self._database.write() as session:
            await forms.note(session, author.id, form, submission.id)
        return submission.id

    async def _made_before(self, author: User, form: str) -> int:
        """The other sending may be under way at this moment."""
        for _ in range(_ASKED):
            async with self._database.read() as session:
                found = await forms.submission_of(session, author.id, form)
            if found is not None:
                return found
            await asyncio.sleep(_PAUSE_S)
        raise Conflict("This form was sent already.", hint="Look at your submissions.")
