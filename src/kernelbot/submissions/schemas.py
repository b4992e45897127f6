"""Lists of submissions, and bodies of requests."""

import json

from pydantic import Field

from kernelbot.schemas.common import Answer, RequestBody, Text
from kernelbot.submissions.model import SubmissionView


class SubmissionList(Answer):
    """The newest first. Ask again with `before_id` for those before; None: that was all."""

    submissions: list[SubmissionView]
    next_before_id: int | None

    @staticmethod
    def of_json(submissions: list[bytes], next_before_id: int | None) -> bytes:
        """The list's JSON, of that of its submissions."""
        end = json.dumps(next_before_id).encode()
        return b'{"submissions":[%b],"next_before_id":%b}' % (b",".join(submissions), end)


class HeldList(Answer):
    """What waits for a decision, the oldest first, with its evidence and without results."""

    submissions: list[SubmissionView]


class Decision(RequestBody):
    """Why a submission is released or refused."""

    reason: Text = Field(
        max_length=2000, pattern=r"\S", description="For the audit log; of a refusal, its author's."
    )
