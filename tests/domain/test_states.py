from hypothesis import given
from hypothesis import strategies as st

from kernelbot.domain.states import (
    RUN_TRANSITIONS,
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


def test_half_done_is_running() -> None:
    assert submission_state([RunState.FINISHED, RunState.QUEUED]) == SubmissionState.RUNNING


def test_the_worst_verdict_speaks() -> None:
    assert worst([Verdict.ACCEPTED, Verdict.WRONG_ANSWER]) == Verdict.WRONG_ANSWER


def test_no_runs_have_no_verdict() -> None:
    assert worst([]) is None
