"""What a judge has collected becomes a result."""

from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.result import our_fault, run_result
from kernelbot.protocol import Limits, RunResult, SandboxReport
from tests.harness.jobs import SORT, a_job
from tests.support.honest import SYSTEM

JOB = a_job(SORT, limits=Limits(output_kept_bytes=10))


def printed(*texts: str) -> RunResult:
    collected = Collected(refusal=our_fault("broken"))
    for text in texts:
        collected.add_output(text, "")
    return run_result(JOB, collected, SYSTEM, SandboxReport("required", (), ()), 0.0)


def test_all_runners_together_are_kept_as_much_of_as_of_one() -> None:
    cut = "01234\n[... 20 characters left out ...]\n56789"
    assert ("0123456789", cut) == (
        printed("01234", "56789").stdout,
        printed(*["0123456789"] * 3).stdout,
    )
