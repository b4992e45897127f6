"""When a machine was too busy to measure on: the one rule for harness and platform.

It goes by how many calls waited for a processor that others had. Those are repeated and are no
samples; but where most calls wait, the others are disturbed as well, by what shares their caches.
"""

from collections.abc import Iterable

from kernelbot.protocol.result import DuelWorkload, RunResult, WorkloadResult
from kernelbot.protocol.scoring import scoring_workloads

MOST_TRIES = 4
"""Windows for one sample: if half of them wait, one sample in 16 finds none that doesn't."""
BUSY_SHARE = 5 / 6
"""Share of the calls: if more have waited, a score isn't ranked. If as many have, half of the
samples found no window that didn't wait (5/6 to the power of `MOST_TRIES`), and the median is among
those."""


def waited_share(load: WorkloadResult | DuelWorkload) -> float:
    """Which share of a workload's windows, or of a duel's pairs, waited; 0 if that is unknown."""
    samples = load.samples_ns if isinstance(load, WorkloadResult) else load.submission_ns
    return (load.waited or 0) / max(len(samples) + load.repeated, 1)


def busy_share(result: RunResult) -> float | None:
    """The largest share of calls that waited among the workloads that decide; None if the machine
    wasn't too busy, or nothing was measured."""
    loads: Iterable[WorkloadResult | DuelWorkload]
    if result.duel is not None:
        loads = result.duel.workloads
    else:
        loads = scoring_workloads({phase.phase: phase.workloads for phase in result.phases})
    share = max(map(waited_share, loads), default=0.0)
    return share if share > BUSY_SHARE else None


def busy_text(share: float) -> str:
    """What happened, as the beginning of a sentence."""
    return (
        f"The machine was busy: {100 * share:.0f} % of the calls waited for a processor that other "
        "programs had"
    )
