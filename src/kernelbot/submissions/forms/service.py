"""Submitting by a form that may be sent twice: a click too many, a page loaded again."""

import re
from hashlib import sha256

from kernelbot.accounts.model import User
from kernelbot.domain.errors import UserError
from kernelbot.domain.next_steps import Next
from kernelbot.store.database import Database
from kernelbot.submissions.creation.service import FormSent
from kernelbot.submissions.forms import store as forms
from kernelbot.submissions.forms.store import FormSubmission
from kernelbot.submissions.model import NewSubmission
from kernelbot.submissions.service import Submissions
from kernelbot.submissions.source import source_text

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
        form's submission is of something else, or is being deleted."""
        if not _FORM.fullmatch(form):
            raise UserError("This form is out of date.", next_step=Next.BEGIN_AGAIN)
        try:
            submission, _ = await self._submissions.create(author, new, form=form)
        except FormSent:
            async with self._database.read() as session:
                made = await forms.submission_of(session, author.id, form)
            if made is None:
                raise
            if not _is_of(made, new):
                raise FormSent(
                    f"This form has made submission {made.id} already, of something else.",
                    hint="Submit it once more to send what is here now.",
                ) from None
            return made.id
        return submission.id


def _is_of(made: FormSubmission, new: NewSubmission) -> bool:
    """Whether the submission is what this one would be. Nobody knows any more what a form without a
    device, or without a board, would have been sent to: that is no difference."""
    devices = {device.lower() for device in new.devices}
    return (
        (new.board is None or new.board.lower() == made.board.lower())
        and (not devices or devices == {device.lower() for device in made.devices})
        and (new.mode, new.file_name) == (made.mode, made.file_name)
        and sha256(source_text(new.content).encode()).digest() == made.source_sha256
    )
