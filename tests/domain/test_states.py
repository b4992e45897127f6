import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.domain.states import (
    MAX_ATTEMPTS,
    RUN_TRANSITIONS,
    ReviewState,
    RunState,
    SubmissionState,
    submission_state,
    worst,
)
from kernelbot.protocol import Verdict

ENDS = {RunState.FINISHED, RunState.CANCELLED}


def test_every_state_has_its_transitions_written() -> None:
    assert set(RUN_TRANSITIONS) == set(RunState)


@given(st.sampled_from(sorted(ENDS)))
def test_nothing_leaves_an_end(before: RunState) -> None:
    assert not RUN_TRANSITIONS[before]


@given(st.lists(st.sampled_from(RunState), min_size=1))
def test_a_submission_is_finished_only_when_all_runs_ended(runs: list[RunState]) -> None:
    ended = submission_state(runs) in {SubmissionState.FINISHED, SubmissionState.CANCELLED}
    assert ended == (set(runs) <= ENDS)


Q, D, R = RunState.QUEUED, RunState.DISPATCHED, RunState.RUNNING
F, C = RunState.FINISHED, RunState.CANCELLED


@pytest.mark.parametrize(
    ("runs", "review", "expected"),
    [
        ([Q, Q], ReviewState.HELD, SubmissionState.QUEUED),
        ([Q, F], ReviewState.CLEAR, SubmissionState.RUNNING),
        ([Q, C], ReviewState.CLEAR, SubmissionState.RUNNING),
        ([D, Q], ReviewState.CLEAR, SubmissionState.RUNNING),
        ([R, C], ReviewState.CLEAR, SubmissionState.RUNNING),
        ([F, C], ReviewState.HELD, SubmissionState.CANCELLED),
        ([F, F], ReviewState.HELD, SubmissionState.HELD),
        ([F, F], ReviewState.REFUSED, SubmissionState.FINISHED),
    ],
)
def test_the_least_advanced_run_decides_and_then_the_review(
    runs: list[RunState], review: ReviewState, expected: SubmissionState
) -> None:
    assert expected is submission_state(runs, review)


def test_three_attempts_are_made() -> None:
    assert 3 == MAX_ATTEMPTS


def test_the_worst_verdict_speaks() -> None:
    assert worst([Verdict.ACCEPTED, Verdict.WRONG_ANSWER]) == Verdict.WRONG_ANSWER


def test_no_runs_have_no_verdict() -> None:
    assert worst([]) is None
