"""Which results can be shown to everybody, and when their code is."""

from datetime import datetime

from kernelbot.boards.rules import has_ended
from kernelbot.domain.states import SubmissionState
from kernelbot.protocol import Mode, Verdict
from kernelbot.ranking.model import NotRankedReason
from kernelbot.submissions.model import Submission

_NO_RESULT = {
    NotRankedReason.HELD,
    NotRankedReason.REFUSED,
    NotRankedReason.BANNED,
    NotRankedReason.CANCELLED,
    NotRankedReason.MEASURED_AGAIN,
}
"""Reasons for which a score is no longer one to show."""


def is_result(submission: Submission) -> bool:
    """Whether it has a score on secret data that nobody doubts: also one that isn't ranked because
    its author has a better one."""
    doubted = submission.not_ranked is not None and submission.not_ranked.reason in _NO_RESULT
    return (
        submission.mode is Mode.LEADERBOARD
        and submission.state is SubmissionState.FINISHED
        and submission.verdict is Verdict.ACCEPTED
        and submission.score_s is not None
        and not doubted
    )


def code_from(deadline: datetime | None, now: datetime) -> datetime | None:
    """From when on a link may show code, so that nobody copies it while a competition runs; None:
    from now on."""
    return None if has_ended(deadline, now) else deadline
