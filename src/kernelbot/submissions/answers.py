"""Lists of submissions."""

import json

from kernelbot.protocol.late import dataclass
from kernelbot.submissions.model import SubmissionView


@dataclass(frozen=True)
class SubmissionList:
    """The newest first. Ask again with `before_id` for those before; None: that was all."""

    submissions: list[SubmissionView]
    next_before_id: int | None

    @staticmethod
    def of_json(submissions: list[bytes], next_before_id: int | None) -> bytes:
        """The list's JSON, of that of its submissions."""
        end = json.dumps(next_before_id).encode()
        return b'{"submissions":[%b],"next_before_id":%b}' % (b",".join(submissions), end)


@dataclass(frozen=True)
class HeldList:
    """What waits for a decision, the oldest first, with its evidence and without results."""

    submissions: list[SubmissionView]
