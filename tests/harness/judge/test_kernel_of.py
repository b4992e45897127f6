"""Problems whose task.py says what of a submission is called."""

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import Mode, RunResult, SourceFile, Verdict
from tests.harness.jobs import a_job, a_problem

pytestmark = pytest.mark.each_run(
    "test_what_it_returns_is_called[profile]",
    "test_what_it_raises_is_the_authors_mistake",
    "test_a_name_that_is_no_function_changes_nothing",
)

TASK = """
def kernel_of(submission):
    solve = getattr(submission, "solve", None)
    if solve is None:
        raise TypeError("The submission defines no function solve.")
    return solve
"""
SOLVE = "import numpy as np\ndef solve(data):\n    return np.sort(data)\n"


def judged(host: Host, source: str, mode: Mode, task: str = TASK) -> RunResult:
    problem = a_problem(files=(SourceFile("task.py", task),))
    return host.judge(a_job(source, mode=mode, problem=problem), lambda _event: None)


@pytest.mark.parametrize("mode", [Mode.BENCHMARK, Mode.PROFILE])
def test_what_it_returns_is_called(host: Host, mode: Mode) -> None:
    result = judged(host, SOLVE, mode)
    assert Verdict.ACCEPTED == result.verdict, result


def test_what_it_raises_is_the_authors_mistake(host: Host) -> None:
    result = judged(host, SOLVE.replace("solve", "custom_kernel"), Mode.TEST)
    assert result.failure is not None
    assert (Verdict.RUNTIME_ERROR, True) == (
        result.verdict,
        "TypeError: The submission defines no function solve." in result.failure.message,
    )


def test_a_name_that_is_no_function_changes_nothing(host: Host) -> None:
    source = SOLVE.replace("solve", "custom_kernel")
    assert Verdict.ACCEPTED == judged(host, source, Mode.TEST, "kernel_of = 1\n").verdict
