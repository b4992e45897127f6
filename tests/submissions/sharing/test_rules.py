"""Which results can be shown to everybody."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.domain.states import SubmissionState
from kernelbot.protocol import Mode, Verdict
from kernelbot.ranking.model import NotRanked, NotRankedReason
from kernelbot.submissions.model import Submission
from kernelbot.submissions.sharing.rules import code_from, is_result

NOW = datetime(2026, 11, 25, tzinfo=UTC)
RESULT = Submission(
    id=1,
    board_id=1,
    board="sort",
    author="ada",
    author_id=1,
    file_name="fast.py",
    mode=Mode.LEADERBOARD,
    created_at=NOW,
    state=SubmissionState.FINISHED,
    verdict=Verdict.ACCEPTED,
    score_s=1e-3,
    place=1,
    runs=(),
    code=None,
)


def test_an_accepted_ranked_submission_is_a_result() -> None:
    assert is_result(RESULT)


@pytest.mark.parametrize(
    "change",
    [
        {"mode": Mode.BENCHMARK},
        {"verdict": Verdict.WRONG_ANSWER},
        {"score_s": None},
        *({"state": state} for state in SubmissionState if state is not SubmissionState.FINISHED),
    ],
)
def test_anything_else_is_none(change: dict[str, object]) -> None:
    assert not is_result(replace(RESULT, **change))  # type: ignore[arg-type]  # of several fields


@pytest.mark.parametrize("reason", list(NotRankedReason))
def test_a_doubted_score_is_none_and_one_that_is_only_beaten_is(reason: NotRankedReason) -> None:
    doubted = {"held", "refused", "banned", "cancelled", "measured_again"}
    not_ranked = NotRanked(reason, "Not ranked.", None)
    assert (reason not in doubted) == is_result(replace(RESULT, not_ranked=not_ranked))


@pytest.mark.parametrize(
    ("left", "waits"), [(None, False), (timedelta(0), False), (timedelta(seconds=1), True)]
)
def test_code_waits_for_the_deadline(left: timedelta | None, waits: bool) -> None:
    deadline = None if left is None else NOW + left
    assert (deadline if waits else None) == code_from(deadline, NOW)
