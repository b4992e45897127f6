"""Submissions: taking them in, showing them, following and cancelling them."""

from collections.abc import AsyncIterator

from kernelbot.domain.types import Event, NewSubmission, Submission, User


class Submissions:
    """A submission is visible to its author and to admins; its runs are judged by workers."""

    async def submit(self, author: User, new: NewSubmission) -> Submission:
        """Take in a submission: source, runs and their jobs appear in one transaction.

        Raises, in this order of checks: `DeviceNotOffered` for an unknown device,
        `SubmissionTooLarge`, `InvalidSubmission`, `Banned`, `NotFound`, `NotAllowed`,
        `BoardClosed`, `DeviceNotOffered`.
        """
        raise NotImplementedError

    async def get(self, viewer: User, submission_id: int) -> Submission:
        """One submission with its code and runs. Raises `NotFound`, `NotAllowed`."""
        raise NotImplementedError

    async def list(
        self,
        viewer: User,
        *,
        board: str | None = None,
        limit: int = 50,
        before_id: int | None = None,
    ) -> list[Submission]:
        """The viewer's own, newest first, without code and results. `before_id` continues."""
        raise NotImplementedError

    async def cancel(self, viewer: User, submission_id: int) -> Submission:
        """Stop what waits or runs. Again: the same answer. Raises `Conflict` when finished."""
        raise NotImplementedError

    async def queue_position(self, submission_id: int) -> int | None:
        """1: next to run on its device. None when nothing of it waits."""
        raise NotImplementedError

    def events(self, viewer: User, submission_id: int, *, after: int = 0) -> AsyncIterator[Event]:
        """Events with an id above `after`, first those that were, then live; ends after the
        last. Raises `NotFound` or `NotAllowed` at the first step."""
        raise NotImplementedError
