"""Submitting by a form that may be sent twice: a click too many, a page loaded again."""

import re

from kernelbot.accounts.model import User
from kernelbot.domain.errors import UserError
from kernelbot.domain.next_steps import Next
from kernelbot.store.database import Database
from kernelbot.submissions.creation.service import FormSent
from kernelbot.submissions.forms import store as forms
from kernelbot.submissions.model import NewSubmission
from kernelbot.submissions.service import Submissions

_FORM = re.compile(r"[A-Za-z0-9_-]{16,64}")


class Forms:
    """One form, one submission, however often it is sent."""

    def __init__(self, database: Database, submissions: Submissions) -> None:
        self._database = database
        self._submissions = submissions

    async def submit(self, author: User, new: NewSubmission, form: str) -> int:
        """The number of the form's submission, which is made now if there is none yet, in one
        transaction with the note that the form was sent. So a form that was refused, or that we
        were stopped at, may be sent again. Raises as `Submissions.create`, and `FormSent` if the
        form's submission is being deleted."""
        if not _FORM.fullmatch(form):
            raise UserError("This form is out of date.", next_step=Next.BEGIN_AGAIN)
        try:
            submission, _ = await self._submissions.create(author, new, form=form)
        except FormSent:
            async with self._database.read() as session:
                made = await forms.submission_of(session, author.id, form)
            if made is None:
                raise
            return made
        return submission.id
