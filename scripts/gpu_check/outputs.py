"""One kernel whose output comes in 1, 2, 4 or 8 arrays: do all take the same time?"""

from collections.abc import Sequence
from pathlib import Path

from kernelbot.harness.host.host import Host
from kernelbot.protocol import Mode, Verdict
from kernelbot.render.table import table
from scripts.gpu_check.judged import judge, reason
from scripts.gpu_check.machine import Gpu

SEVERAL = Path(__file__).parent / "several"
_SUBMISSION = SEVERAL / "solutions" / "correct" / "one_kernel.py"
_ALIKE_NS = 1_000
_ALIKE_SHARE = 0.01


def check(gpu: Gpu) -> bool:
    """Print the table; whether the medians are equal."""
    host = Host()
    try:
        result = judge(host, SEVERAL, _SUBMISSION, gpu.device, Mode.BENCHMARK, secret=False)
    finally:
        host.close()
    if result.verdict is not Verdict.ACCEPTED:
        print(f"NO: {reason(result)}")
        return False
    loads = result.phases[-1].workloads
    rows = [
        (load.spec, f"{load.median_ns / 1e3:.2f}", f"{(load.empty_call_ns or 0) / 1e3:.2f}")
        for load in loads
    ]
    print(table(("workload", "median us", "launch us"), rows, right=("median us", "launch us")))
    for note in result.system.notes:
        print(f"note: {note}")
    return are_alike([load.median_ns for load in loads])


def are_alike(medians_ns: Sequence[float]) -> bool:
    """Whether times differ by no more than a clock does."""
    allowed_ns = _ALIKE_NS + _ALIKE_SHARE * min(medians_ns)
    return max(medians_ns) - min(medians_ns) <= allowed_ns
