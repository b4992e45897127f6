import pytest

from kernelbot.domain.repeats import REPEATED
from kernelbot.domain.states import RunState
from kernelbot.protocol import EventKind, Phase, ProgressEvent, Verdict
from kernelbot.render.progress import Activity, progress_line, state_text


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (ProgressEvent(EventKind.STARTED), None),
        (ProgressEvent(EventKind.COMPILED, duration_s=1.5), "compiled in 1.50 s"),
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


def test_activities_are_counted_in_any_order() -> None:
    activity = Activity()
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
