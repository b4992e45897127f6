"""What existing clients are told of a submission's state."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kernelbot.api.popcorn.submissions import done, error_text, run_items, status
from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.protocol import (
    CaseResult,
    Failure,
    Fault,
    HarnessKind,
    Mode,
    Phase,
    PhaseResult,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
)
from kernelbot.runs.model import Run
from kernelbot.submissions.model import Submission

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
FAILED = RunResult(
    job_id="1",
    problem="sort",
    mode=Mode.TEST,
    harness=HarnessKind.NATIVE,
    verdict=Verdict.WRONG_ANSWER,
    system=SystemInfo("CPU", "cpu", "linux", "3.11", None),
    sandbox=SandboxReport("required", (), ()),
    phases=(
        PhaseResult(
            Phase.TEST,
            Verdict.WRONG_ANSWER,
            0.1,
            cases=(
                CaseResult("size: 1", Verdict.ACCEPTED, ""),
                CaseResult("size: 2", Verdict.WRONG_ANSWER, "the output isn't sorted"),
            ),
        ),
    ),
    stdout="hello from the kernel",
    failure=Failure(Fault.AUTHOR, "1 of 2 tests failed"),
)
RUN = Run(
    id=1,
    submission_id=1,
    device="CPU",
    mode=Mode.TEST,
    secret=False,
    state=RunState.FINISHED,
    verdict=Verdict.WRONG_ANSWER,
    score_s=None,
    attempts=1,
    created_at=WHEN,
    started_at=WHEN,
    finished_at=WHEN,
    fault=Fault.AUTHOR,
    message="1 of 2 tests failed",
    result=FAILED,
)


def submission(
    state: SubmissionState, verdict: Verdict | None = None, runs: tuple[Run, ...] = (RUN,)
) -> Submission:
    return Submission(
        id=1,
        board_id=1,
        board="sort",
        author="ada",
        author_id=1,
        file_name="fast.py",
        mode=Mode.TEST,
        created_at=WHEN,
        state=state,
        verdict=verdict,
        score_s=None,
        place=None,
        runs=runs,
        code=None,
    )


@pytest.mark.parametrize(
    ("state", "verdict", "expected"),
    [
        (SubmissionState.QUEUED, None, (False, "pending")),
        (SubmissionState.RUNNING, None, (False, "running")),
        (SubmissionState.FINISHED, Verdict.ACCEPTED, (True, "succeeded")),
        (SubmissionState.FINISHED, Verdict.WRONG_ANSWER, (True, "failed")),
        (SubmissionState.FINISHED, Verdict.INTERNAL_ERROR, (True, "failed")),
        (SubmissionState.FINISHED, Verdict.TIME_LIMIT, (True, "timed_out")),
        (SubmissionState.CANCELLED, None, (True, "failed")),
    ],
)
def test_done_and_status_come_from_one_state(
    state: SubmissionState, verdict: Verdict | None, expected: tuple[bool, str]
) -> None:
    shown = submission(state, verdict)
    assert expected == (done(shown), status(shown))


def test_an_error_names_the_test_the_message_and_the_output() -> None:
    text = error_text(submission(SubmissionState.FINISHED, Verdict.WRONG_ANSWER)) or ""
    assert "size: 2" in text
    assert "the output isn't sorted" in text
    assert "hello from the kernel" in text


def test_there_is_no_error_before_the_end() -> None:
    assert error_text(submission(SubmissionState.RUNNING)) is None


def test_there_is_no_error_of_what_was_accepted() -> None:
    run = replace(RUN, verdict=Verdict.ACCEPTED)
    assert error_text(submission(SubmissionState.FINISHED, Verdict.ACCEPTED, (run,))) is None


def test_an_error_of_a_secret_run_shows_nothing_of_its_result() -> None:
    run = replace(RUN, secret=True, message="did not pass")
    text = error_text(submission(SubmissionState.FINISHED, Verdict.WRONG_ANSWER, (run,)))
    assert "CPU: did not pass" == text


def test_an_error_cannot_move_the_readers_cursor() -> None:
    run = replace(RUN, result=None, message="\x1b[2Jgone")
    text = error_text(submission(SubmissionState.FINISHED, Verdict.RUNTIME_ERROR, (run,)))
    assert "CPU: \\x1b[2Jgone" == text


def test_an_unfinished_run_is_not_shown_as_failed() -> None:
    assert [] == list(run_items(replace(RUN, state=RunState.RUNNING, verdict=None, result=None)))


def test_a_run_without_a_result_is_shown_by_its_mode() -> None:
    (item,) = run_items(replace(RUN, result=None, verdict=Verdict.INTERNAL_ERROR))
    assert ("test", False) == (item.mode, item.passed)


def test_a_secret_run_shows_no_phases() -> None:
    (item,) = run_items(replace(RUN, secret=True, mode=Mode.LEADERBOARD))
    assert ("leaderboard", None) == (item.mode, item.result)


def test_what_was_refused_says_why() -> None:
    refused = replace(
        submission(SubmissionState.FINISHED, Verdict.RULE_VIOLATION),
        review=ReviewState.REFUSED,
        review_reason="it caches",
    )
    assert (status(refused), error_text(refused)) == (
        "hacked",
        "It was refused: it caches",
    )
