from pathlib import Path

import pytest

from kernelbot import judge
from kernelbot.domain.errors import InvalidProblem, InvalidSubmission
from kernelbot.protocol import Verdict
from tests.library.sources import REFUSED, RIGHT, WRONG, without_baseline


# Each run has test_times_have_intervals_and_are_compared_with_the_reference (test_judge.py)
@pytest.mark.exhaustive
def test_it_judges_as_kernelbot_run_does(home: Path, sums: Path, open_files: None) -> None:
    right, wrong = judge(sums, RIGHT), judge(sums, sums / "submission.py", mode="test")
    assert (Verdict.ACCEPTED, Verdict.ACCEPTED) == (right.verdict, wrong.verdict)
    assert Verdict.WRONG_ANSWER == judge(sums, WRONG.encode()).verdict


@pytest.mark.exhaustive
def test_the_reference_is_timed_right_after(home: Path, sums: Path) -> None:
    report = judge(sums, RIGHT, mode="leaderboard", baseline=True)
    assert report.baseline is not None
    assert report.speed_ci95 is not None
    assert report.speed_ci95[0] <= report.speed_ci95[1]


def test_what_can_not_be_judged_raises_before_anything_runs(home: Path, sums: Path) -> None:
    with pytest.raises(InvalidProblem, match="There is no folder"):
        judge(sums / "nope", RIGHT)
    for source in REFUSED.values():
        with pytest.raises(InvalidSubmission):
            judge(sums, source)
    with pytest.raises(InvalidProblem, match="has no baseline"):
        judge(without_baseline(sums), RIGHT, mode="benchmark", baseline=True)
