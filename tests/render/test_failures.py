"""Cases that failed in the same way are told from those that didn't."""

from kernelbot.protocol import CaseResult, Verdict
from kernelbot.render.failures import Alike, failed_alike, without_numbers


def case(number: int, message: str, verdict: Verdict = Verdict.WRONG_ANSWER) -> CaseResult:
    return CaseResult(f"size: {number}", verdict, message)


def test_messages_that_differ_in_numbers_are_of_one_way() -> None:
    cases = [case(1, "element 3 is 1.5e-07, not 2"), case(2, "element 70 is 5, not 6.25")]
    assert [Alike(cases[0], (cases[1],))] == failed_alike(cases)


def test_other_words_or_another_verdict_are_another_way() -> None:
    cases = [
        case(1, "element 1 is 2"),
        case(2, "wrong shape"),
        case(3, "element 1 is 2", Verdict.RUNTIME_ERROR),
    ]
    assert [Alike(one, ()) for one in cases] == failed_alike(cases)


def test_what_was_accepted_is_in_no_way_of_failing() -> None:
    assert [] == failed_alike([case(1, "", Verdict.ACCEPTED)])


def test_a_long_message_of_digits_takes_no_time() -> None:
    assert "0" == without_numbers("9" * 1_000_000)
