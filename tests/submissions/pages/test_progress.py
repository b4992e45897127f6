"""Where a submission stands, by its runs' events: what its page is told live."""

from datetime import UTC, datetime, timedelta

from kernelbot.domain.states import ReviewState, RunState
from kernelbot.protocol import EventKind, Mode
from kernelbot.runs.model import Run
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.submissions.model import BareSubmission, SubmissionEvent
from kernelbot.submissions.pages.progress import StepState, SubmissionProgress, queue_text

NOW = datetime.now(UTC)
SECRET = "Timed on secret data"
PLACE = DeviceQueuePosition(2, 0.3, device="CPU")


def row(file_name: str = "a.py") -> BareSubmission:
    return BareSubmission(
        id=12,
        board_id=1,
        board="sort",
        creator_id=1,
        author="ada",
        author_id=1,
        file_name=file_name,
        mode=Mode.LEADERBOARD,
        created_at=NOW - timedelta(seconds=40),
        review=ReviewState.CLEAR,
        review_reason=None,
        seed_is_shared=False,
    )


def run(
    number: int,
    *,
    secret: bool = False,
    device: str = "CPU",
    mode: Mode = Mode.LEADERBOARD,
) -> Run:
    return Run(
        id=number,
        submission_id=12,
        device=device,
        mode=mode,
        secret=secret,
        state=RunState.QUEUED,
        verdict=None,
        score_s=None,
        attempts=0,
        created_at=NOW,
        started_at=None,
        finished_at=None,
        fault=None,
        message=None,
        result=None,
    )


def ranked(file_name: str = "a.py") -> SubmissionProgress:
    return SubmissionProgress(row(file_name), (run(1), run(2, secret=True)), PLACE)


def benchmarked() -> SubmissionProgress:
    return SubmissionProgress(row(), (run(1, mode=Mode.BENCHMARK),), PLACE)


def tell(
    progress: SubmissionProgress, kind: EventKind | RunState, number: int = 1, **data: str | int
) -> bool:
    return progress.add(SubmissionEvent(1, 12, number, "CPU", number == 2, kind, dict(data), NOW))


def steps(progress: SubmissionProgress) -> list[tuple[str, StepState, float]]:
    return [(one.text, one.state, one.share) for one in progress.state.steps]


def test_what_waits_says_where_and_has_all_its_steps_before_it() -> None:
    state = ranked().state
    assert ("Waiting", "Position 2 in the queue for CPU, any moment now.") == (
        state.headline,
        state.detail,
    )
    assert ["Test", SECRET] == [step.text for step in state.steps]
    assert "Waiting · Submission 12" == state.title


def test_leaving_the_queue_is_told_and_takes_the_place_away() -> None:
    progress = ranked()
    assert tell(progress, RunState.DISPATCHED)
    state = progress.state
    assert ("Being judged", False) == (state.headline, "Position" in state.detail)


def test_cases_that_were_tested_are_counted() -> None:
    progress = ranked()
    tell(progress, RunState.RUNNING)
    tell(progress, EventKind.PHASE_STARTED, phase="test", total=5)
    for _ in range(3):
        tell(progress, EventKind.CASE)
    assert [
        ("Test: 3 of 5", StepState.NOW, 0.6),
        (SECRET, StepState.NEXT, 0.0),
    ] == steps(progress)
    assert "Test: 3 of 5 · Submission 12" == progress.state.title
    assert "public run: test; secret run: waiting in the queue" == progress.state.detail


def test_the_secret_run_is_one_step() -> None:
    progress = ranked()
    tell(progress, RunState.FINISHED, verdict="accepted")
    tell(progress, RunState.RUNNING, 2)
    tell(progress, EventKind.PHASE_STARTED, 2, phase="test", total=5)  # as an admin is told
    assert [("Test", StepState.DONE, 1.0), (SECRET, StepState.NOW, 0.0)] == steps(progress)


def test_workloads_come_after_the_tests() -> None:
    progress = benchmarked()
    tell(progress, RunState.RUNNING)
    tell(progress, EventKind.PHASE_STARTED, phase="test", total=5)
    tell(progress, EventKind.PHASE_STARTED, phase="benchmark", total=2)
    tell(progress, EventKind.WORKLOAD)
    assert [("Test", StepState.DONE, 1.0), ("Timed: 1 of 2", StepState.NOW, 0.5)] == steps(progress)


def test_a_compiled_file_is_built_first() -> None:
    progress = ranked("a.cu")
    tell(progress, RunState.RUNNING)
    tell(progress, EventKind.COMPILING)
    assert ("Build", StepState.NOW, 0.0) == steps(progress)[0]
    tell(progress, EventKind.PHASE_STARTED, phase="test", total=1)
    assert ("Build", StepState.DONE, 1.0) == steps(progress)[0]


def test_what_failed_says_in_which_step() -> None:
    progress = ranked()
    tell(progress, RunState.RUNNING)
    tell(progress, EventKind.PHASE_STARTED, phase="test", total=5)
    tell(progress, RunState.FINISHED, verdict="wrong_answer")
    assert [StepState.FAILED, StepState.NEXT] == [state for _, state, _ in steps(progress)[:2]]


def test_the_end_of_all_runs_is_a_headline() -> None:
    progress = ranked()
    for number in (1, 2):
        tell(progress, RunState.FINISHED, number, verdict="accepted")
    assert ("Judged", "") == (progress.state.headline, progress.state.detail)
    assert {1.0} == {share for _, _, share in steps(progress)}


def test_another_attempt_begins_again() -> None:
    progress = benchmarked()
    tell(progress, RunState.RUNNING)
    tell(progress, EventKind.PHASE_STARTED, phase="benchmark", total=2)
    tell(progress, RunState.QUEUED)
    assert [StepState.NEXT] * 2 == [state for _, state, _ in steps(progress)]
    assert "Position" not in progress.state.detail  # where it was the first time says nothing


def test_steps_name_the_device_if_there_are_several() -> None:
    progress = SubmissionProgress(row(), (run(1, mode=Mode.BENCHMARK), run(2, device="H100")), None)
    texts = [step.text for step in progress.state.steps]
    assert ["CPU: Test", "CPU: Timed", "H100: Test"] == texts


def test_more_cases_than_were_named_are_not_more_than_all() -> None:
    progress = ranked()
    tell(progress, RunState.RUNNING)
    tell(progress, EventKind.PHASE_STARTED, phase="test", total=1)
    for _ in range(9):
        tell(progress, EventKind.CASE)
    assert 1.0 == progress.state.steps[0].share


def test_a_rejudge_s_events_change_nothing() -> None:
    progress = ranked()
    before = steps(progress)
    assert not tell(progress, RunState.RUNNING, 99)
    assert before == steps(progress)


def test_the_time_since_it_was_sent_is_told() -> None:
    passed_s = (datetime.now(UTC) - NOW).total_seconds()
    assert 0 <= ranked().state.elapsed_s - 40 - passed_s < 60


def test_a_place_says_how_long_and_why_nothing_moves() -> None:
    assert [
        "Position 1 in the queue for CPU.",
        "Position 1 in the queue for CPU, about 40 s to go.",
        "Position 1 in the queue for CPU. Nothing is judged there just now: it is away.",
    ] == [
        queue_text(DeviceQueuePosition(1, wait_s, note, device="CPU"))
        for wait_s, note in ((None, ""), (40.0, ""), (None, "it is away"))
    ]
