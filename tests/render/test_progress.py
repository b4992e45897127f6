import pytest

from kernelbot.protocol import EventKind, Phase, ProgressEvent, Verdict
from kernelbot.render.progress import progress_line


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (ProgressEvent(EventKind.STARTED), None),
        (ProgressEvent(EventKind.COMPILED, duration_s=1.5), "compiled in 1.50 s"),
        (ProgressEvent(EventKind.PHASE_STARTED, Phase.TEST, total=5), "test (5) ..."),
        (
            ProgressEvent(
                EventKind.CASE, Phase.TEST, 0, 5, spec="size: 1", verdict=Verdict.ACCEPTED
            ),
            "  ✓ 1/5 size: 1",
        ),
        (
            ProgressEvent(
                EventKind.CASE,
                Phase.TEST,
                1,
                5,
                spec="size: 2",
                verdict=Verdict.WRONG_ANSWER,
                message="off by one",
            ),
            "  ✗ 2/5 size: 2\n      off by one",
        ),
        (
            ProgressEvent(EventKind.WORKLOAD, Phase.BENCHMARK, 0, 1, spec="size: 1", median_ns=1e6),
            "  1/1 size: 1  1.00 ms",
        ),
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


def test_a_secret_case_shows_no_spec() -> None:
    event = ProgressEvent(EventKind.CASE, Phase.TEST, 0, 5, verdict=Verdict.ACCEPTED)
    assert "  ✓ 1/5" == progress_line(event)
