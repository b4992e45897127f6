"""At which lines of a file something went wrong."""

import time
from dataclasses import replace

import pytest

from kernelbot.preflight.error_places import ErrorPosition, error_positions
from kernelbot.preflight.model import Severity
from kernelbot.protocol import CaseResult, CompileReport, Failure, Fault, RunResult, Verdict
from tests.render.results import WRONG

CODE = "import numpy as np\n\ndef custom_kernel(data):\n    x = data[9]\n    return x\n"
NAMES = frozenset({"submission.py", "mine.py"})
CUDA = frozenset({"submission.cu"})


def places(
    result: RunResult, code: str = CODE, names: frozenset[str] = NAMES
) -> list[ErrorPosition]:
    return list(error_positions([result], code, names))


def failed(message: str) -> RunResult:
    return replace(WRONG, phases=(), compile=None, failure=Failure(Fault.AUTHOR, message))


def test_a_traceback_is_at_the_innermost_line_of_the_author_s() -> None:
    message = (
        "The submission failed:\nTraceback (most recent call last):\n"
        '  File "submission.py", line 3, in custom_kernel\n    helper(data)\n'
        '  File "submission.py", line 4, in helper\n    x = data[9]\n        ^^^^\n'
        '  File "/usr/lib/python3/numpy/core.py", line 700, in __getitem__\n    raise\n'
        "IndexError: index 9 is out of bounds"
    )
    assert [ErrorPosition(4, None, "IndexError: index 9 is out of bounds")] == places(
        failed(message)
    )


def test_what_follows_an_error_is_no_other_error() -> None:
    crash = (
        'Traceback (most recent call last):\n  File "submission.py", line {}, in f\n    x\nE: {}'
    )
    message = f"{crash.format(4, 'first')}\n\nDuring handling:\n\n{crash.format(5, 'second')}\nEnd."
    assert [(4, "E: first"), (5, "E: second")] == [
        (one.line, one.message) for one in places(failed(message))
    ]


def test_a_syntax_error_is_at_its_line() -> None:
    shown = '  File "submission.py", line 4\n    x = data[9\n            ^\n'
    message = f"{shown}SyntaxError: '[' was never closed"
    found = places(failed(message), CODE.replace("[9]", "[9"))
    assert [(4, "SyntaxError: '[' was never closed")] == [(one.line, one.message) for one in found]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "submission.cu:4:10: error: 'aa' was not declared in this scope\n",
            ErrorPosition(4, 10, "'aa' was not declared in this scope"),
        ),
        (
            "./submission.cu:2:1: warning: unused variable\n",
            ErrorPosition(2, 1, "unused variable", Severity.WARNING),
        ),
        (
            'submission.cu(3): error: identifier "aa" is undefined\n',
            ErrorPosition(3, None, 'identifier "aa" is undefined'),
        ),
    ],
)
def test_a_compiler_s_line_and_column_are_read(output: str, expected: ErrorPosition) -> None:
    compiled = replace(failed(""), compile=CompileReport("nvcc", output, 0.1, False))
    assert [expected] == places(compiled, "\n" * 9, CUDA)


def test_a_wrong_answer_is_at_the_kernel() -> None:
    assert [ErrorPosition(3, None, "size: 2: element 1 is 5, not 6")] == places(WRONG)


def test_what_failed_the_same_way_has_one_place() -> None:
    case = WRONG.phases[0].cases[1]
    cases = tuple(replace(case, spec=f"size: {n}") for n in range(5))
    assert 1 == len(places(replace(WRONG, phases=(replace(WRONG.phases[0], cases=cases),))))


def test_a_kernel_in_c_is_found_and_a_comment_about_it_is_not() -> None:
    code = '// custom_kernel(x)\nextern "C" void custom_kernel(const float* x) {}\n'
    assert [2] == [one.line for one in places(WRONG, code, CUDA)]


def test_other_files_and_lines_that_are_not_there_have_no_place() -> None:
    for name, line in (("task.py", 1), ("/x/submission.py", 1), ("submission.py", 99999)):
        message = f'Traceback (most recent call last):\n  File "{name}", line {line}, in f\nE: x'
        assert [] == places(failed(message))


def test_hostile_output_is_one_line_each_and_not_too_much() -> None:
    output = "".join(
        f"submission.cu:1:{n}: error: \x1b[2J\u202e{'x' * 9999}\n" for n in range(1, 999)
    )
    compiled = replace(failed(""), compile=CompileReport("g++", output, 0.1, False))
    found = places(compiled, "x\n", CUDA)
    assert True is all(len(one.message) <= 500 and "\x1b" not in one.message for one in found)
    assert len(found) <= 50


def test_a_case_without_a_message_is_named() -> None:
    silent = replace(WRONG.phases[0], cases=(CaseResult("size: 7", Verdict.WRONG_ANSWER, ""),))
    assert ["size: 7: wrong answer"] == [
        one.message for one in places(replace(WRONG, phases=(silent,)))
    ]


def test_a_large_file_and_many_ways_of_failing_take_little_time() -> None:
    code = "\n".join(map(str, range(150_000)))
    error = "triton.compiler.errors.CompilationError: at 1:1:\n"
    cases = tuple(
        CaseResult(f"size: {n}", Verdict.RUNTIME_ERROR, error + chr(0x4E00 + n) * 9000)
        for n in range(200)
    )
    result = replace(failed(""), phases=(replace(WRONG.phases[0], cases=cases),))
    began_s = time.process_time()
    places(result, code)
    assert time.process_time() - began_s < 2.0


def test_what_lies_behind_the_first_of_many_texts_has_no_place() -> None:
    message = 'Traceback:\n  File "submission.py", line {}, in f\n    x\nValueError: {}'
    cases = tuple(
        CaseResult(f"size: {n}", Verdict.RUNTIME_ERROR, message.format(1, chr(0x4E00 + n)))
        for n in range(60)
    )
    found = places(replace(failed("x"), phases=(replace(WRONG.phases[0], cases=cases),)))
    assert 19 == len(found)
