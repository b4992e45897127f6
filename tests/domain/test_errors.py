"""What errors say, and what they say of what to do next."""

import pytest

from kernelbot.domain.errors import (
    Finding,
    InvalidProblem,
    NoRoom,
    RateLimited,
    TooManyRequests,
    Unavailable,
    UserError,
)
from kernelbot.domain.next_steps import Next, known_step


def test_what_to_do_is_a_doors_sentence_or_the_errors_own() -> None:
    sentences = {Next.LOG_IN: "Log in."}
    errors = [UserError("x", next_step=Next.LOG_IN), UserError("x", hint="Wait."), UserError("x")]
    assert ["Log in.", "Wait.", ""] == [error.advice(sentences) for error in errors]


@pytest.mark.parametrize(
    ("word", "step"), [("log_in", Next.LOG_IN), ("of tomorrow", None), ("", None), (None, None)]
)
def test_a_word_of_a_newer_release_is_no_step(word: str | None, step: Next | None) -> None:
    assert step is known_step(word)


def findings(count: int) -> list[Finding]:
    return [Finding("task.yml", f"tests[{at}]", at + 1, "no seed") for at in range(count)]


def test_mistakes_are_listed_by_their_place() -> None:
    given = [
        Finding("task.yml", "tests", 9, "no list"),
        Finding("task.yml", "", 1, "no text"),
        Finding("b.py", "seed", None, "missing"),
        Finding("task.yml", "", None, "too long"),
    ]
    error = InvalidProblem.listing("The problem", given)
    assert (
        "The problem has 4 mistakes:\n"
        "  b.py: seed: missing\n"
        "  task.yml: too long\n"
        "  task.yml:1: no text\n"
        "  task.yml:9: tests: no list"
    ) == str(error)
    assert (given[2], given[3], given[1], given[0]) == error.findings
    assert "Correct what is listed, then try again." == error.hint


@pytest.mark.parametrize(
    ("count", "first", "last"),
    [
        (1, "It has a mistake:", "  task.yml:1: tests[0]: no seed"),
        (50, "It has 50 mistakes:", "  task.yml:50: tests[49]: no seed"),
        (51, "It has 51 mistakes:", "  ... and 1 more"),
    ],
)
def test_fifty_mistakes_are_listed(count: int, first: str, last: str) -> None:
    lines = str(InvalidProblem.listing("It", findings(count))).splitlines()
    assert (first, last, 1 + min(count, 51)) == (lines[0], lines[-1], len(lines))


@pytest.mark.parametrize(("after_s", "shown"), [(0.0, 1), (1.4, 1), (2.6, 3)])
def test_a_rate_limit_says_when_to_come_back(after_s: float, shown: int) -> None:
    error = TooManyRequests("Too many.", retry_after_s=after_s)
    assert (f"Try again in {shown} s.", after_s) == (error.hint, error.retry_after_s)
    assert "" == TooManyRequests("Too many.", retry_after_s=1, hint="").hint


def test_an_error_that_says_no_more_has_no_advice() -> None:
    errors = NoRoom("full"), RateLimited("full", for_s=2), InvalidProblem("wrong")
    assert [("", None)] * 3 == [(error.hint, error.next_step) for error in errors]


def test_what_is_not_available_is_worth_another_try_in_five_seconds() -> None:
    assert 5.0 == Unavailable("No pyarrow.").retry_after_s


def test_only_where_no_answer_came_there_may_be_a_job() -> None:
    errors = NoRoom("full"), NoRoom("full", unsure=True), RateLimited("full", for_s=2)
    assert [False, True, True] == [error.unsure for error in errors]
