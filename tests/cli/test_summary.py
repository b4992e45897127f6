"""What a terminal shows of a submission: the answer first, in as many lines as a terminal has."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kernelbot.cli.summary import COMPARED_LINES, LINES, summary
from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.moderation.reviews.model import Evidence
from kernelbot.protocol import (
    NOT_RUN,
    CaseResult,
    Failure,
    Fault,
    Mode,
    RunResult,
    Verdict,
)
from kernelbot.ranking.model import ScoreInterval
from kernelbot.render.intervals import ONE_JUDGING
from kernelbot.runs.model import RunView
from kernelbot.submissions.model import SubmissionView
from tests.render.results import ACCEPTED, WORKLOAD, WRONG

NOW = datetime(2027, 1, 1, tzinfo=UTC)
URL = "http://kernels.example.org/submission/17"
RANKED = ScoreInterval((0.001, 0.0012), (0.00105, 0.00115), 0.05, 0)
CRASH = "The submission failed:\nTraceback (most recent call last):\n{}\nIndexError: size {}"


def shown(
    *results: RunResult, compared: Sequence[str] = (), lines: int = LINES, **changes: Any
) -> list[str]:
    """The lines of a ranked submission with such runs, the second of which is secret."""
    runs = [
        RunView(
            id=1 + index,
            device="CPU",
            mode=result.mode,
            secret=index > 0,
            state=RunState.FINISHED,
            verdict=result.verdict,
            score_s=result.score_s,
            interval=RANKED if index and result.score_s else None,
            attempts=1,
            created_at=NOW,
            started_at=NOW,
            finished_at=NOW,
            fault=result.failure.fault if result.failure else None,
            message=result.failure.message if result.failure else None,
            result=result,
        )
        for index, result in enumerate(results)
    ]
    view = SubmissionView(
        id=17,
        board="sort",
        author="ada",
        file_name="mine.py",
        mode=Mode.LEADERBOARD,
        created_at=NOW,
        state=SubmissionState.FINISHED,
        verdict=results[-1].verdict,
        score_s=results[-1].score_s,
        place=1 if results[-1].score_s else None,
        runs=tuple(runs),
        code=None,
    )
    return summary(replace(view, **changes), URL, compared, lines=lines).splitlines()


def failing(messages: list[str]) -> RunResult:
    cases = [
        CaseResult(f"size: {number}", Verdict.RUNTIME_ERROR, message)
        for number, message in enumerate(messages)
    ]
    return replace(WRONG, phases=(replace(WRONG.phases[0], cases=tuple(cases)),), stdout="")


def test_the_score_with_its_interval_is_first_and_the_page_last() -> None:
    lines = shown(ACCEPTED, ACCEPTED)
    assert [
        "✓ Submission 17 (mine.py): accepted",
        "Score 1.10 ms (95 % interval 1.00 to 1.20 ms) on secret data, place 1 on sort",
        f"Its page: {URL}",
    ] == [*lines[:2], lines[-1]]
    assert "median" in lines[2]


def test_how_it_compares_comes_before_the_times_and_has_its_room() -> None:
    compared = [f"{number} " + "x" * 100 for number in range(40)]
    lines = shown(ACCEPTED, ACCEPTED, compared=compared)
    table = next(at for at, line in enumerate(lines) if "median" in line)
    assert ("0", 2 + COMPARED_LINES, f"Its page: {URL}") == (lines[2], table, lines[-1])
    assert (True, []) == (len(lines) <= LINES, [line for line in lines if len(line) > 80])


def test_equal_tracebacks_are_said_once() -> None:
    frames = '  File "submission.py", line 4, in custom_kernel\n    data[n]'
    lines = shown(failing([CRASH.format(frames, n) for n in range(5)]))
    assert 1 == sum("IndexError" in line for line in lines)
    assert "    4 more failed the same way" in lines


def test_cases_that_were_not_run_are_no_way_of_failing() -> None:
    lines = shown(failing(["a is off", "b is off", "c is off", "d is off", NOT_RUN]))
    assert [
        "  1 other way of failing",
        "    1 more was not run: the program had ended in another case.",
    ] == [line for line in lines if "other way" in line or "not run" in line]


def test_a_failure_of_both_runs_is_said_once() -> None:
    lines = shown(WRONG, WRONG)
    assert 1 == sum("element 1 is 5, not 6" in line for line in lines)


def test_what_was_printed_is_named_with_the_command_that_shows_it() -> None:
    lines = shown(WRONG)
    assert ["What the program printed:", "  hello"] == lines[-4:-2]
    assert "All that the program printed: kernelbot submission show 17" == lines[-2]


def test_our_fault_is_said_to_be_ours() -> None:
    failure = Failure(Fault.PLATFORM, "The host is gone.")
    lines = shown(replace(ACCEPTED, verdict=Verdict.INTERNAL_ERROR, failure=failure, phases=()))
    assert "  The host is gone." in lines
    assert True is any("fault" in line for line in lines)


@pytest.mark.parametrize(
    "result",
    [
        failing([CRASH.format("  frame\n" * 200, n) for n in range(3)]),
        failing([f"{word} is wrong\n" + "x" * 5000 for word in "abcdefghijkl"]),
        replace(
            ACCEPTED,
            phases=(replace(ACCEPTED.phases[1], workloads=(WORKLOAD,) * 60),),
        ),
        replace(WRONG, phases=(), failure=Failure(Fault.AUTHOR, "e\x1b[2J\n" * 999)),
        replace(ACCEPTED, stdout="\x1b[2J" + "x" * 300 + "\ny\r\n" * 9999),
    ],
)
@pytest.mark.parametrize("most", [LINES, LINES - COMPARED_LINES])
def test_it_is_never_longer_than_a_terminal(result: RunResult, most: int) -> None:
    lines = shown(result, result, lines=most)
    assert (True, URL) == (len(lines) <= most, lines[-1].removeprefix("Its page: "))
    assert "\x1b" not in "".join(lines)
    assert [] == [line for line in lines if len(line) > 80]


def test_the_error_at_a_traceback_s_end_is_always_shown() -> None:
    lines = shown(failing([CRASH.format("  frame\n" * 200, 1)]))
    assert True is any("IndexError: size 1" in line for line in lines)


@pytest.mark.parametrize("word", ["why ", "x"])
def test_what_was_noticed_is_never_longer_than_a_terminal(word: str) -> None:
    evidence = tuple(Evidence("score", "fast", "high", word * 900) for _ in range(9))
    lines = shown(
        ACCEPTED,
        ACCEPTED,
        evidence=evidence,
        review=ReviewState.HELD,
        state=SubmissionState.HELD,
        review_reason=word * 900,
    )
    assert (True, f"Its page: {URL}") == (len(lines) <= LINES, lines[-1])
    assert [] == [line for line in lines if len(line) > 80]


def test_what_was_noticed_of_an_accepted_one_leaves_no_word_of_what_failed() -> None:
    evidence = tuple(Evidence("score", "fast", "high", "why " * 900) for _ in range(9))
    assert False is any("[... 0 lines" in line for line in shown(ACCEPTED, evidence=evidence))


def test_the_times_of_the_workloads_are_of_one_judging_and_say_so() -> None:
    lines = shown(ACCEPTED, ACCEPTED)
    table = next(at for at, line in enumerate(lines) if "median" in line)
    assert 1 == lines[table:].count(ONE_JUDGING)


def test_a_ranked_submission_shows_the_times_of_its_secret_run() -> None:
    tested = replace(ACCEPTED, mode=Mode.TEST, phases=ACCEPTED.phases[:1], score_s=None)
    lines = shown(tested, ACCEPTED)
    assert 1 == sum("median" in line for line in lines)


def test_without_a_ranked_interval_that_of_the_judging_says_so() -> None:
    assert shown(ACCEPTED)[1].startswith(
        "Score 1.10 ms (95 % interval of this judging 1.00 to 1.20 ms)"
    )
