"""A submission as text, from what the server says of it."""

from dataclasses import replace
from datetime import UTC, datetime

from kernelbot.cli.outcome import closing, outcome
from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.protocol import Mode, Verdict
from kernelbot.ranking.model import NotRanked, NotRankedReason, ScoreInterval
from kernelbot.render.intervals import of_all_judgings
from kernelbot.runs.model import RunView
from kernelbot.submissions.model import SubmissionView
from tests.render.results import ACCEPTED, judged
from tests.support.preflights import PREFLIGHT

NOW = datetime(2027, 1, 1, tzinfo=UTC)
PAGE = "http://x/submission/17"
RUN = "Public run on CPU: accepted"


def run(*, secret: bool, score_s: float | None) -> RunView:
    return RunView(
        id=1 + secret,
        device="CPU",
        mode=Mode.LEADERBOARD,
        secret=secret,
        state=RunState.FINISHED,
        verdict=Verdict.ACCEPTED,
        score_s=score_s,
        attempts=1,
        created_at=NOW,
        started_at=NOW,
        finished_at=NOW,
        fault=None,
        message=None,
        result=None,
    )


def submission(*, place: int | None = None, not_ranked: NotRanked | None = None) -> SubmissionView:
    return SubmissionView(
        id=17,
        board="sort",
        author="ada",
        file_name="mine.py",
        mode=Mode.LEADERBOARD,
        created_at=NOW,
        state=SubmissionState.FINISHED,
        verdict=Verdict.ACCEPTED,
        score_s=0.002,
        place=place,
        runs=(run(secret=False, score_s=None), run(secret=True, score_s=0.002)),
        code=None,
        review=ReviewState.CLEAR,
        not_ranked=not_ranked,
    )


def test_the_score_that_counts_comes_first() -> None:
    expected = (
        "✓ Submission 17 (mine.py): accepted\n"
        "Score 2.00 ms on secret data, place 1 on sort\n\n"
        "Public run on CPU: accepted\n\n"
        "Secret run on CPU: accepted, score 2.00 ms\n\n"
        "Its page: http://x/submission/17"
    )
    assert expected == outcome(submission(place=1), PAGE)


def test_a_shared_place_is_written_as_in_the_ranking() -> None:
    shared = replace(submission(place=1), place_is_shared=True)
    assert "place =1 on sort" in outcome(shared, PAGE)


def test_the_interval_of_the_ranking_stands_below_its_run() -> None:
    interval = ScoreInterval((0.0018, 0.0022), (0.0019, 0.0021), 0.05, 0)
    ranked = replace(run(secret=True, score_s=0.002), interval=interval)
    shown = outcome(replace(submission(), runs=(ranked,)), PAGE).splitlines()
    assert "Score 2.00 ms (95 % interval 1.80 to 2.20 ms) on secret data" == shown[1]
    assert f"  {of_all_judgings(interval)}" == shown[4]


def test_a_run_that_is_not_ranked_has_the_interval_of_its_judging() -> None:
    bench = judged(ACCEPTED).runs[0]
    shown = outcome(replace(submission(), runs=(bench,)), PAGE)
    assert "  95 % interval of this judging 1.00 to 1.20 ms" in shown.splitlines()


def test_what_is_not_ranked_says_why_last() -> None:
    sentence = "Not ranked: it is the same code as submission 16, which counts once."
    why = NotRanked(reason=NotRankedReason.SAME_CODE, sentence=sentence, submission_id=16)
    assert sentence == closing(submission(not_ranked=why)).splitlines()[-1]


def test_what_compilers_said_comes_before_the_runs() -> None:
    found = replace(submission(), preflights=(PREFLIGHT,))
    shown = outcome(found, PAGE).splitlines()
    heading = "✓ H100 (90a): compiled, 1 kernel in 2.00 s; in brackets: the previous version"
    assert (True, True) == ("64 (40)" in "".join(shown), shown.index(heading) < shown.index(RUN))
