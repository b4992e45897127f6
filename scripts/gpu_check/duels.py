"""A kernel against itself, and against one that takes 2 % longer: do duels tell which is faster?"""

from kernelbot.harness.host.host import Host
from kernelbot.protocol import DuelWorkload, Mode, SourceFile, Verdict
from kernelbot.render.table import table
from scripts.gpu_check.judged import judge, reason
from scripts.gpu_check.machine import Gpu
from scripts.gpu_check.timing import SPIN, asked_ns

_SUBMISSION = SPIN / "solutions" / "correct" / "default_stream.cu"
_SHORTEST_NS = 100_000
"""Of the workloads that count: the GPU's timer moves in steps of about a microsecond."""
_ALIKE = 0.005


def check(gpu: Gpu) -> bool:
    """Print the table; whether all answers are right."""
    text = _SUBMISSION.read_text(encoding="utf-8")
    slower = text.replace("(ns, took);", "(ns + ns / 50, took);")
    rows: list[tuple[str, ...]] = []
    host = Host()
    try:
        for name, opponent, expected in (("itself", text, 1.0), ("2 % more", slower, 1 / 1.02)):
            source = SourceFile(_SUBMISSION.name, opponent)
            mode = Mode.LEADERBOARD
            result = judge(host, SPIN, _SUBMISSION, gpu.device, mode, secret=False, opponent=source)
            if result.verdict is not Verdict.ACCEPTED or result.duel is None:
                print(f"NO: against {name}: {reason(result)}")
                return False
            rows += [_row(name, load, expected) for load in result.duel.workloads]
    finally:
        host.close()
    headers = ("against", "workload", "ratio", "interval", "pairs", "right")
    print(table(headers, rows, right=headers[2:5]))
    return all(row[-1] != "NO" for row in rows)


def is_right(load: DuelWorkload, expected: float) -> bool:
    """Whether the ratio is as expected, but for what counts as alike."""
    low, high = load.ratio_ci95
    return low - _ALIKE <= expected <= high + _ALIKE


def _row(name: str, load: DuelWorkload, expected: float) -> tuple[str, ...]:
    low, high = load.ratio_ci95
    counts = asked_ns(load.spec) >= _SHORTEST_NS
    right = "yes" if is_right(load, expected) else "NO"
    return (
        name,
        load.spec,
        f"{load.ratio:.4f}",
        f"{low:.4f} to {high:.4f}",
        str(len(load.submission_ns)),
        right if counts else "too short",
    )
