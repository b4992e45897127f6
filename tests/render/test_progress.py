from datetime import UTC, datetime

import pytest

from kernelbot.domain.states import RunState
from kernelbot.protocol import EventKind, Phase, ProgressEvent, Verdict
from kernelbot.render.progress import RunActivity, RunProgress, is_report, progress_line, state_text
from kernelbot.runs.repeats import REPEATED
from kernelbot.submissions.model import SubmissionEvent


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (ProgressEvent(EventKind.STARTED), None),
        (ProgressEvent(EventKind.COMPILED, duration_s=1.5), "compiled in 1.50 s"),
        (ProgressEvent(EventKind.COMPILED, message="H100\n\x1b[2Jk"), "H100\n\\x1b[2Jk"),
        (ProgressEvent(EventKind.PHASE_STARTED, Phase.TEST, total=5), "test (5) ..."),
        (ProgressEvent(EventKind.CASE, Phase.TEST, 0, 5, verdict=Verdict.ACCEPTED), None),
        (ProgressEvent(EventKind.WORKLOAD, Phase.BENCHMARK, 0, 1, median_ns=1e6), None),
        (
            ProgressEvent(
                EventKind.PHASE_FINISHED, Phase.TEST, verdict=Verdict.ACCEPTED, duration_s=0.5
            ),
            "test: accepted in 500 ms",
        ),
    ],
)
def test_an_event_in_a_line(event: ProgressEvent, expected: str | None) -> None:
    assert expected == progress_line(event)


def test_a_report_has_no_room_in_one_line() -> None:
    report = ProgressEvent(EventKind.COMPILED, message="H100\nk  40")
    compiled = ProgressEvent(EventKind.COMPILED, duration_s=1.5)
    assert (None, True, False) == (
        RunActivity().after(report),
        is_report(report),
        is_report(compiled),
    )


def test_activities_are_counted_in_any_order() -> None:
    activity = RunActivity()
    events = (
        ProgressEvent(EventKind.PHASE_STARTED, Phase.TEST, total=2),
        ProgressEvent(EventKind.CASE, Phase.TEST, 1, 2, verdict=Verdict.ACCEPTED),
        ProgressEvent(EventKind.PHASE_STARTED, Phase.LEADERBOARD, total=2),
        ProgressEvent(EventKind.WORKLOAD, Phase.LEADERBOARD, 1, 2, median_ns=1e6),
        ProgressEvent(EventKind.WORKLOAD, Phase.LEADERBOARD, 0, 2, median_ns=1e6),
    )
    assert [
        "test (2)",
        "test: 1 of 2 tested",
        "leaderboard (2)",
        "leaderboard: 1 of 2 timed, sampling the next",
        "leaderboard: 2 of 2 timed",
    ] == [activity.after(event) for event in events]


def test_a_job_that_waits_for_another_measurement_says_so() -> None:
    activity = RunActivity()
    events = (
        ProgressEvent(EventKind.PHASE_STARTED, Phase.BENCHMARK, total=2),
        ProgressEvent(EventKind.WAITING, Phase.BENCHMARK),
        ProgressEvent(EventKind.WAITED, Phase.BENCHMARK, duration_s=2.0),
    )
    assert [
        "benchmark (2)",
        "benchmark: waiting for another measurement on this machine",
        "benchmark: sampling",
    ] == [activity.after(event) for event in events]


def test_how_many_there_are_is_known_from_the_beginning_of_a_phase() -> None:
    activity = RunActivity()
    events = (
        ProgressEvent(EventKind.PHASE_STARTED, Phase.BENCHMARK, total=2),
        ProgressEvent(EventKind.WORKLOAD, Phase.BENCHMARK, 0, median_ns=1e6),
        ProgressEvent(EventKind.WORKLOAD, Phase.BENCHMARK, 1, median_ns=1e6),
    )
    assert [
        "benchmark (2)",
        "benchmark: 1 of 2 timed, sampling the next",
        "benchmark: 2 of 2 timed",
    ] == [activity.after(event) for event in events]


def event_of(
    kind: EventKind | RunState, data: dict[str, str | int | float | bool | None]
) -> SubmissionEvent:
    return SubmissionEvent(1, 1, 1, "CPU", False, kind, data, datetime.now(UTC))


def test_a_run_that_waits_for_another_measurement_says_so_until_it_measures() -> None:
    run = RunProgress(RunState.RUNNING)
    data: dict[str, str | int | float | bool | None] = {"phase": "benchmark", "total": 2}
    texts = []
    for kind in (EventKind.PHASE_STARTED, EventKind.WAITING, EventKind.WAITED, EventKind.WAITING):
        run.add(event_of(kind, data))
        texts.append(run.text)
    run.add(event_of(RunState.QUEUED, {}))
    waits = "benchmark: 0 of 2, waiting for another measurement on this machine"
    assert ["benchmark: 0 of 2", waits, "benchmark: 0 of 2", waits, "waiting in the queue"] == [
        *texts,
        run.text,
    ]


@pytest.mark.parametrize(
    ("state", "repeats", "expected"),
    [
        (
            RunState.QUEUED,
            1,
            f"waiting in the queue; {REPEATED}",
        ),
        (RunState.QUEUED, 0, "waiting in the queue"),
        (RunState.QUEUED, "<b>", "waiting in the queue"),
        (RunState.FINISHED, 3, "finished"),
    ],
)
def test_a_run_that_is_measured_again_says_why(
    state: RunState, repeats: object, expected: str
) -> None:
    assert expected == state_text(state, repeats)


@pytest.mark.parametrize(
    ("state", "reason", "expected"),
    [
        (RunState.DISPATCHED, "held", "handed to a device, where it waits: held"),
        (RunState.DISPATCHED, "a\x1b[2J\nb", "handed to a device, where it waits: a\\x1b[2J\\nb"),
        (RunState.DISPATCHED, "", "handed to a device"),
        (RunState.QUEUED, "its node failed", "waiting in the queue"),
    ],
)
def test_a_run_that_its_scheduler_has_not_begun_says_why(
    state: RunState, reason: str, expected: str
) -> None:
    run = RunProgress()
    run.add(event_of(state, {"reason": reason}))
    assert (expected, expected) == (state_text(state, reason=reason), run.text)


def test_what_a_judge_tells_shows_that_a_run_has_begun() -> None:
    """One that was built before it was handed over doesn't change its state again."""
    run = RunProgress(RunState.RUNNING)
    run.add(event_of(RunState.DISPATCHED, {"reason": "held"}))
    run.add(event_of(EventKind.PHASE_STARTED, {"phase": "test", "total": 5}))
    assert (RunState.RUNNING, "test: 0 of 5") == (run.state, run.text)


def test_a_report_of_compilers_changes_nothing_of_a_run_at_work() -> None:
    """One that is made in idle time comes whenever it is ready."""
    run = RunProgress(RunState.RUNNING)
    run.add(event_of(EventKind.PHASE_STARTED, {"phase": "test", "total": 5}))
    run.add(event_of(EventKind.CASE, {}))
    before = run.text
    run.add(event_of(EventKind.COMPILED, {"message": "H100: 40 registers"}))
    assert ("test: 1 of 5", "test: 1 of 5") == (before, run.text)


def test_a_run_whose_files_are_built_first_says_so_until_they_are() -> None:
    run, activity = RunProgress(RunState.RUNNING), RunActivity()
    texts = []
    for kind in (EventKind.COMPILING, EventKind.COMPILED):
        run.add(event_of(kind, {}))
        texts.append((run.text, activity.after(ProgressEvent(kind, duration_s=2.0))))
    assert [("compiling", "compiling"), ("running", "compiled in 2.00 s")] == texts
