"""The CUDA, Triton and torch examples: the correct ones accepted, the wrong ones not."""

import time
from pathlib import Path

from kernelbot.harness.host.host import Host
from kernelbot.protocol import Mode, RunResult, Verdict
from kernelbot.render.table import table
from scripts.gpu_check.judged import judge, reason
from scripts.gpu_check.machine import Gpu

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROBLEMS = ("vectoradd_cu", "vectoradd_triton", "vectoradd_py")


def check(gpu: Gpu) -> bool:
    """Print the table; whether all was as expected."""
    rows: list[tuple[str, ...]] = []
    fine = True
    host = Host()
    try:
        for problem in PROBLEMS:
            for submission in sorted((EXAMPLES / problem / "solutions").glob("*/*")):
                start = time.monotonic()
                folder, device = EXAMPLES / problem, gpu.device
                result = judge(host, folder, submission, device, Mode.LEADERBOARD, secret=True)
                expected = is_as_expected(result, submission.parent.name)
                fine &= expected
                rows.append(_row(problem, submission, result, time.monotonic() - start, expected))
    finally:
        host.close()
    headers = ("problem", "submission", "verdict", "score us", "took s", "as expected")
    print(table(headers, rows, right=headers[3:5]))
    return fine


def is_as_expected(result: RunResult, kind: str) -> bool:
    """`kind`: the folder's name, `correct` or `wrong`. A failure of ours is never expected."""
    accepted = result.verdict is Verdict.ACCEPTED
    return accepted == (kind == "correct") and result.verdict is not Verdict.INTERNAL_ERROR


def _row(
    problem: str, submission: Path, result: RunResult, took_s: float, expected: bool
) -> tuple[str, ...]:
    score = "" if result.score_s is None else f"{result.score_s * 1e6:.2f}"
    said = "yes" if expected else f"NO: {reason(result)}"
    return problem, submission.name, str(result.verdict), score, f"{took_s:.2f}", said
