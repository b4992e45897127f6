from datetime import UTC, datetime
from pathlib import Path

import pytest
from scripts.demo_view import DemoView, Entry

from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.protocol import EventKind, Mode, Verdict
from kernelbot.ranking.model import Standing, StandingsPage
from kernelbot.runs.model import RunView
from kernelbot.submissions.model import SubmissionEvent, SubmissionView

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def run(verdict: Verdict, *, secret: bool = False, message: str | None = None) -> RunView:
    return RunView(
        id=1,
        device="CPU",
        mode=Mode.LEADERBOARD,
        secret=secret,
        state=RunState.FINISHED,
        verdict=verdict,
        score_s=None,
        attempts=1,
        created_at=NOW,
        started_at=NOW,
        finished_at=NOW,
        fault=None,
        message=message,
        result=None,
    )


def entry(
    folder: str, verdict: Verdict | None, *runs: RunView, score_s: float | None = None
) -> Entry:
    finished = verdict is not None
    submission = SubmissionView(
        id=7,
        board="sort",
        author="amara",
        file_name="fast.py",
        mode=Mode.LEADERBOARD,
        created_at=NOW,
        state=SubmissionState.FINISHED if finished else SubmissionState.RUNNING,
        verdict=verdict,
        score_s=score_s,
        place=None,
        runs=runs,
        code=None,
    )
    return Entry("sort", "amara", "token", Path(f"/x/{folder}/fast.py"), submission)


@pytest.mark.parametrize(
    ("folder", "verdict", "expected"),
    [
        ("correct", Verdict.ACCEPTED, True),
        ("correct", Verdict.WRONG_ANSWER, False),
        ("correct", None, False),
        ("wrong", Verdict.WRONG_ANSWER, True),
        ("wrong", Verdict.TIME_LIMIT, True),
        ("wrong", Verdict.ACCEPTED, False),
        ("wrong", Verdict.INTERNAL_ERROR, False),
        ("wrong", None, False),
    ],
)
def test_a_file_goes_as_expected(folder: str, verdict: Verdict | None, expected: bool) -> None:
    assert entry(folder, verdict).as_expected is expected


def test_the_public_run_gives_the_reason_in_one_line() -> None:
    secret = run(Verdict.WRONG_ANSWER, secret=True, message="refused")
    public = run(Verdict.WRONG_ANSWER, message="got 1\x1b[2J\nat [3]")
    assert entry("wrong", Verdict.WRONG_ANSWER, secret, public).reason == "got 1\\x1b[2J"


def test_the_reason_of_a_crash_is_the_last_line_of_its_traceback() -> None:
    crash = run(Verdict.RUNTIME_ERROR, message="Failed:\nTraceback ...\nIndexError: 256\n")
    assert entry("wrong", Verdict.RUNTIME_ERROR, crash).reason == "IndexError: 256"


def test_a_finished_submission_is_one_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    refused = entry("wrong", Verdict.WRONG_ANSWER, run(Verdict.WRONG_ANSWER, message="off by one"))
    view = DemoView()
    with view.live([refused]):
        assert refused.submission is not None
        view.update(refused, refused.submission)
    assert capsys.readouterr().out.split() == [
        *("✗", "wrong", "answer", "sort", "amara", "wrong/fast.py", "off", "by", "one"),
    ]


def test_a_surprise_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    accepted = entry("wrong", Verdict.ACCEPTED, score_s=0.001)
    view = DemoView()
    assert accepted.submission is not None
    view.update(accepted, accepted.submission)
    assert "expected: refused, by its author's fault" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "data", "secret", "expected"),
    [
        (RunState.QUEUED, {}, False, "queued"),
        (RunState.RUNNING, {}, False, "running (public)"),
        (EventKind.CASE, {"phase": "test", "index": 1, "total": 5}, True, "test 2/5 (secret)"),
        (EventKind.PHASE_STARTED, {"phase": "benchmark"}, False, "benchmark (public)"),
    ],
)
def test_an_event_says_what_is_being_done(
    kind: EventKind | RunState, data: dict[str, str | int], secret: bool, expected: str
) -> None:
    running = entry("correct", None)
    event = SubmissionEvent(
        id=1,
        submission_id=7,
        run_id=1,
        device="CPU",
        secret=secret,
        kind=kind,
        data=dict(data),
        created_at=NOW,
    )
    DemoView().update(running, event)
    assert running.status == expected


def test_standings_draw_the_slowest_as_the_longest_bar(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = tuple(
        Standing(
            rank=rank,
            author=author,
            author_id=rank,
            score_s=score_s,
            ci95_s=None,
            submission_id=rank,
            file_name="fast.py",
            achieved_at=NOW,
            unverified=False,
        )
        for rank, author, score_s in ((1, "bo", 0.001), (2, "chen", 0.004))
    )
    DemoView().standings(StandingsPage(board="sort", device="CPU", total=2, standings=rows))
    heading, first, second = capsys.readouterr().out.strip().splitlines()
    assert heading == "sort on CPU"
    assert (first.count("▇"), second.count("▇")) == (6, 24)
