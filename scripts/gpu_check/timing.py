"""Kernels of known length: do the harness's clocks find it, also on a stream of the author's own?

The kernel waits by the GPU's own timer for as long as the workload says; asked and measured times
stand side by side.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from kernelbot.harness.host.host import Host
from kernelbot.protocol import Mode, RunResult, Verdict, WorkloadResult
from kernelbot.render.table import table
from scripts.gpu_check.judged import judge, reason
from scripts.gpu_check.machine import Gpu

SPIN = Path(__file__).parent / "spin"
SHORT_NS = 2_000
"""The GPU's timer moves in steps of about a microsecond."""
LONG_NS = 1_000
"""What the clocks' steps may add; launching is measured beside it."""
LONG_SHARE = 0.01


def check(gpu: Gpu, chosen: Sequence[Path] | None = None) -> bool:
    """Print the table; whether all times are credible. `chosen`: of `submissions`; None: all."""
    rows: list[tuple[str, ...]] = []
    fine = True
    host = Host()
    try:
        for submission in submissions() if chosen is None else chosen:
            result = judge(host, SPIN, submission, gpu.device, Mode.BENCHMARK, secret=False)
            found = rows_of(submission, result)
            fine &= all(row[-1] == "yes" for row in found)
            rows += found
    finally:
        host.close()
    headers = (
        "submission",
        "asked us",
        "measured us",
        "more us",
        "interval us",
        "empty us",
        "credible",
    )
    print(table(headers, rows, right=headers[1:6]))
    return fine


def rows_of(submission: Path, result: RunResult) -> list[tuple[str, ...]]:
    """The table's, the last cell saying whether a time is credible: never if there is none."""
    if result.verdict is not Verdict.ACCEPTED or not any(_loads(result)):
        return [(submission.name, *[""] * 5, f"NO: {reason(result)}")]
    return [_row(submission, load) for load in _loads(result)]


def submissions() -> list[Path]:
    """All of them last as long as they are asked to."""
    return sorted((SPIN / "solutions" / "correct").iterdir())


def is_credible(asked_ns: float, measured_ns: float) -> bool:
    """Never less than the kernel took, and not much more."""
    most = asked_ns * (1 + LONG_SHARE) + LONG_NS
    return asked_ns - SHORT_NS <= measured_ns <= most


def asked_ns(spec: str) -> float:
    """Of a workload such as `microseconds: 20; seed: 1`."""
    fields = dict(part.split(": ") for part in spec.split("; "))
    return float(fields["microseconds"]) * 1e3


def _loads(result: RunResult) -> Iterator[WorkloadResult]:
    for phase in result.phases:
        yield from phase.workloads


def _row(submission: Path, load: WorkloadResult) -> tuple[str, ...]:
    asked, measured = asked_ns(load.spec), load.median_ns
    low, high = load.ci95_ns
    return (
        submission.name,
        f"{asked / 1e3:.0f}",
        f"{measured / 1e3:.2f}",
        f"{(measured - asked) / 1e3:.2f}",
        f"{low / 1e3:.2f} to {high / 1e3:.2f}",
        f"{(load.empty_call_ns or 0) / 1e3:.2f}",
        "yes" if is_credible(asked, measured) else "NO",
    )
