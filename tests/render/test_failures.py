"""Cases that failed in the same way are told from those that didn't."""

import time

from kernelbot.protocol import NOT_RUN, CaseResult, Verdict
from kernelbot.render.failures import Alike, failed_alike, without_numbers


def case(number: int, message: str, verdict: Verdict = Verdict.WRONG_ANSWER) -> CaseResult:
    return CaseResult(f"size: {number}", verdict, message)


def test_messages_that_differ_in_numbers_are_of_one_way() -> None:
    cases = [case(1, "element 3 is 1.5e-07, not 2"), case(2, "element 70 is 5, not 6.25")]
    assert [Alike(cases[0], (cases[1],))] == failed_alike(cases)


def test_a_number_s_sign_is_part_of_it() -> None:
    cases = [case(1, "at [0]: got 0.5, expected 2"), case(2, "at [3]: got -1.5, expected -3e-07")]
    assert [Alike(cases[0], (cases[1],))] == failed_alike(cases)


def test_a_dash_between_words_is_no_sign() -> None:
    assert ("a[0]-0", "0-0", "x-0") == tuple(map(without_numbers, ("a[3]-4", "3-4", "x-7")))


def test_cases_that_were_not_run_are_no_way_of_failing_and_come_last() -> None:
    cases = [case(1, NOT_RUN), case(2, "it ended"), case(3, NOT_RUN)]
    assert [
        (cases[1], ""),
        (cases[0], "2 more were not run: the program had ended in another case."),
    ] == [(way.first, way.sentence) for way in failed_alike(cases)]


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


def test_a_thousand_long_messages_of_numbers_take_little_time() -> None:
    cases = [case(number, f"{'1 ' * 8000}{chr(0x4E00 + number)}") for number in range(1000)]
    began_s = time.process_time()
    assert 1000 == len(failed_alike(cases))
    assert time.process_time() - began_s < 2.0


def test_long_messages_are_compared_by_their_ends() -> None:
    lines = "\n".join(f"line {number}" for number in range(1000))
    first, second, other = (case(1, f"{lines}\nE: {why}") for why in ("at 1", "at 2", "shape"))
    assert [Alike(first, (second,)), Alike(other, ())] == failed_alike([first, second, other])
