"""How much of a device, and of its machine's memory, judging takes: by how often data lies there.

The harness's own rules are in `judge/calls/arena_buffers.py`, `judge/measuring/measure.py` and
`timing/answers.py`; a change there changes the numbers here.
"""

from dataclasses import dataclass

from kernelbot.harness.timing.answers import MAX_KEPT_BYTES
from kernelbot.protocol import HarnessKind, ProblemSpec
from scripts.problem_memory.dry_run import DryRun

CONTEXT_BYTES = 512 << 20
"""What a process needs to use a GPU at all: its context and the framework's kernels."""
_PROCESSES = 4
"""The judge, the problem's, the author's and the control runner."""


@dataclass(frozen=True)
class Way:
    """How a problem's data reaches its kernel."""

    name: str
    says: str


NATIVE = Way("native", "in memory of the judge's on the device")
RANKS = Way("ranks", "in memory of the judge's on each rank's device")
SCRIPT = Way("script", "by the problem's own script")


def way_of(spec: ProblemSpec) -> Way:
    """The way by which a problem is judged on a GPU."""
    if spec.harness is HarnessKind.SCRIPT:
        return SCRIPT
    return RANKS if spec.multi_gpu else NATIVE


def device_bytes(way: Way, run: DryRun) -> int | None:
    """The most that one GPU has to hold; None if that isn't known."""
    if run.data_bytes is None or run.problem_bytes is None or way is SCRIPT:
        return None
    data, output = run.data_bytes, run.output_bytes or 0
    contexts = _PROCESSES * CONTEXT_BYTES
    # The question that serves the control runner, and the one of the current call, of which the
    # process of a rank keeps the latter alone.
    cage = run.problem_bytes + (0 if way is RANKS else data)
    author = data + output
    kept = max(output, min(MAX_KEPT_BYTES, 20 * output))
    judge = 2 * data + output + kept
    return cage + judge + _with_arenas(data, output, author) + contexts


def _with_arenas(data: int, output: int, author: int) -> int:
    """Author and control runner have an arena for data and one for outputs each; the control runner
    returns what the author returns."""
    arenas = 2 * (data + output)
    author_own = author - data
    return arenas + author_own + output


def host_bytes(way: Way, run: DryRun) -> int | None:
    """The most that data and outputs take of the machine's memory; None if that isn't known."""
    return None if run.data_bytes is None or way is SCRIPT else 0
