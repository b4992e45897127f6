"""How long a host waits for a judge before it holds it to be stuck."""

from dataclasses import replace

from kernelbot.harness.host.host import longest_s
from kernelbot.harness.words.failures import MORE_S
from kernelbot.protocol import Mode, SourceFile, Timeouts
from tests.harness.jobs import SORT, a_job

TIMEOUTS = Timeouts(test_s=1000, benchmark_s=7, ranked_s=5, compile_s=3)
JOB = a_job(SORT)
JOB = replace(JOB, mode=Mode.TEST, problem=replace(JOB.problem, timeouts=TIMEOUTS))
SLACK_S = 30.0


def test_tests_may_be_judged_twice_and_the_second_time_for_longer() -> None:
    assert SLACK_S + 3 + 1000 + 1000 + MORE_S == longest_s(JOB)


def test_in_a_duel_those_of_both_kernels() -> None:
    duel = replace(JOB, opponent=SourceFile("submission.py", SORT))
    assert longest_s(duel) == SLACK_S + 2 * (3 + 1000 + 1000 + MORE_S)


def test_a_build_step_has_no_tests() -> None:
    built = replace(JOB, build_only=True)
    assert longest_s(built) == SLACK_S + 3
