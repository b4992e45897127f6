"""What a submission shows, as it follows from its runs, its review and its places."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kernelbot.accounts.model import Role, User
from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.protocol import EventKind, Fault, Mode, Verdict
from kernelbot.ranking.model import NotRanked, NotRankedReason
from kernelbot.runs.model import Run
from kernelbot.submissions import views
from kernelbot.submissions.model import (
    BareSubmission,
    Rank,
    RankedSubmission,
    Submission,
    SubmissionEvent,
)
from kernelbot.submissions.views import FAILED_UNSEEN, REFUSED_UNSEEN, UNJUDGED_UNSEEN

THEN = datetime(2031, 2, 3, tzinfo=UTC)
AUTHOR = User(2, "ada", Role.COMPETITOR, THEN, None)
ADMIN = User(1, "root", Role.ADMIN, THEN, None)
ROW = BareSubmission(
    id=7,
    board_id=1,
    board="sort",
    creator_id=1,
    author="ada",
    author_id=2,
    file_name="fast.py",
    mode=Mode.LEADERBOARD,
    created_at=THEN,
    review=ReviewState.CLEAR,
    review_reason=None,
    seed_is_shared=False,
)
PUBLIC = Run(
    id=1,
    submission_id=7,
    device="CPU",
    mode=Mode.LEADERBOARD,
    secret=False,
    state=RunState.FINISHED,
    verdict=Verdict.ACCEPTED,
    score_s=1.0,
    attempts=1,
    created_at=THEN,
    started_at=THEN,
    finished_at=THEN,
    fault=None,
    message=None,
    result=None,
)
SECRET = replace(PUBLIC, id=2, secret=True, score_s=2.0)
WAITS = replace(SECRET, state=RunState.QUEUED, verdict=None, score_s=None)
CANCELLED = replace(WAITS, state=RunState.CANCELLED)
FAILED = replace(SECRET, verdict=Verdict.TIME_LIMIT, score_s=None, fault=Fault.AUTHOR, message="x")
SAME = NotRanked.because(NotRankedReason.SAME_CODE, 3)
OTHER = NotRanked.because(NotRankedReason.NO_BETTER, 4)


def there(run: Run, **changes: Any) -> Run:
    """A run on another device."""
    return replace(run, device="H100", **changes)


def there_too(run: Run) -> Run:
    """A run on a third device."""
    return replace(run, device="B200")


def shown(*runs: Run, places: tuple[RankedSubmission, ...] = (), **of_row: Any) -> Submission:
    return views.submission(replace(ROW, **of_row), runs, places)


@pytest.mark.parametrize(
    ("runs", "review", "expected"),
    [
        ((WAITS,), ReviewState.CLEAR, (SubmissionState.QUEUED, None)),
        ((PUBLIC, WAITS), ReviewState.CLEAR, (SubmissionState.RUNNING, None)),
        ((PUBLIC, WAITS), ReviewState.REFUSED, (SubmissionState.RUNNING, None)),
        ((PUBLIC, CANCELLED), ReviewState.CLEAR, (SubmissionState.CANCELLED, None)),
        ((PUBLIC, SECRET), ReviewState.CLEAR, (SubmissionState.FINISHED, Verdict.ACCEPTED)),
        ((PUBLIC, SECRET), ReviewState.HELD, (SubmissionState.HELD, Verdict.ACCEPTED)),
        ((PUBLIC, SECRET), ReviewState.REFUSED, (SubmissionState.FINISHED, Verdict.RULE_VIOLATION)),
        ((PUBLIC, FAILED), ReviewState.CLEAR, (SubmissionState.FINISHED, Verdict.WRONG_ANSWER)),
        ((FAILED, PUBLIC), ReviewState.HELD, (SubmissionState.HELD, Verdict.WRONG_ANSWER)),
    ],
)
def test_state_and_verdict(
    runs: tuple[Run, ...],
    review: ReviewState,
    expected: tuple[SubmissionState, Verdict | None],
) -> None:
    found = shown(*runs, review=review)
    assert expected == (found.state, found.verdict)


@pytest.mark.parametrize(
    ("mode", "runs", "score_s"),
    [
        (Mode.LEADERBOARD, (PUBLIC, SECRET), 2.0),
        (Mode.LEADERBOARD, (PUBLIC, WAITS), None),
        (Mode.LEADERBOARD, (replace(PUBLIC, verdict=Verdict.TIME_LIMIT), SECRET), None),
        (Mode.BENCHMARK, (PUBLIC,), 1.0),
        (Mode.BENCHMARK, (replace(PUBLIC, score_s=None),), None),
        (Mode.LEADERBOARD, (SECRET, there(SECRET, score_s=3.0)), 2.0),
        (Mode.LEADERBOARD, (SECRET, there(SECRET, score_s=1.5)), 1.5),
        (Mode.LEADERBOARD, (SECRET, there(FAILED), there(SECRET, score_s=1.5)), 2.0),
    ],
)
def test_the_score_is_that_of_the_best_device_on_which_all_was_accepted(
    mode: Mode, runs: tuple[Run, ...], score_s: float | None
) -> None:
    assert score_s == shown(*runs, mode=mode).score_s


@pytest.mark.parametrize(
    ("ranked", "place", "shared"),
    [
        ((), None, False),
        ((("H100", Rank(1, True)),), None, False),
        ((("H100", Rank(1, True)), ("CPU", Rank(3, False))), 3, False),
        ((("CPU", Rank(3, True)),), 3, True),
    ],
)
def test_the_place_is_that_on_the_device_of_the_score(
    ranked: tuple[tuple[str, Rank], ...], place: int | None, shared: bool
) -> None:
    places = tuple(RankedSubmission(7, device, rank) for device, rank in ranked)
    found = shown(PUBLIC, SECRET, places=places)
    assert (place, shared) == (found.place, found.place_is_shared)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ((PUBLIC, SECRET), None),
        ((replace(PUBLIC, not_ranked=SAME), SECRET), None),
        ((PUBLIC, replace(SECRET, not_ranked=SAME)), SAME),
        ((there(SECRET, score_s=3.0, not_ranked=OTHER), replace(SECRET, not_ranked=SAME)), SAME),
        ((there(SECRET, score_s=3.0, not_ranked=OTHER), SECRET), None),
        ((there(SECRET, score_s=3.0, not_ranked=OTHER), SECRET, there_too(WAITS)), OTHER),
        ((there(SECRET, score_s=3.0, not_ranked=OTHER), SECRET, there_too(CANCELLED)), None),
    ],
)
def test_why_it_is_not_ranked_is_that_of_the_device_of_the_score_once_it_is_over(
    runs: tuple[Run, ...], expected: NotRanked | None
) -> None:
    assert expected == shown(*runs).not_ranked


@pytest.mark.parametrize(
    ("run", "verdict", "message"),
    [
        (SECRET, Verdict.ACCEPTED, None),
        (FAILED, Verdict.WRONG_ANSWER, FAILED_UNSEEN),
        (replace(FAILED, secret=False), Verdict.TIME_LIMIT, "x"),
        (replace(FAILED, verdict=Verdict.RULE_VIOLATION), Verdict.RULE_VIOLATION, REFUSED_UNSEEN),
        (
            replace(FAILED, verdict=Verdict.INTERNAL_ERROR, fault=Fault.PLATFORM),
            Verdict.INTERNAL_ERROR,
            UNJUDGED_UNSEEN,
        ),
    ],
)
def test_an_author_learns_of_a_secret_run_no_more_than_that(
    run: Run, verdict: Verdict, message: str | None
) -> None:
    (told,) = shown(run).runs
    (whole,) = views.submission(ROW, [run], (), sees_secret=True).runs
    assert ((verdict, message), run) == ((told.verdict, told.message), whole)


EVENT = SubmissionEvent(1, 7, 2, "CPU", True, RunState.FINISHED, {}, THEN)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"verdict": "accepted"}, {"verdict": "accepted"}),
        ({"reason": "its node is down"}, {}),
        ({"reason": "busy", "repeats": 1}, {"reason": "busy", "repeats": 1}),
        (
            {"fault": "author", "verdict": "time_limit", "message": "x", "reason": "y"},
            {"fault": "author", "verdict": "wrong_answer", "message": FAILED_UNSEEN, "reason": "y"},
        ),
        (
            {"fault": "platform", "verdict": "internal_error", "message": "x"},
            {"fault": "platform", "verdict": "internal_error", "message": UNJUDGED_UNSEEN},
        ),
    ],
)
def test_an_event_of_a_secret_run_tells_its_author_no_more_than_that(
    said: dict[str, Any], told: dict[str, Any]
) -> None:
    found = replace(EVENT, data=said)
    assert replace(EVENT, data=told) == views.event(found, AUTHOR)
    assert found == views.event(found, ADMIN)
    public = replace(found, secret=False)
    assert public == views.event(public, AUTHOR)


def test_the_steps_of_a_secret_run_are_not_told() -> None:
    step = replace(EVENT, kind=EventKind.CASE)
    assert (None, step) == (views.event(step, AUTHOR), views.event(step, ADMIN))
