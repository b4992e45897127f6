"""What was timed in runs and duels, for those who see the samples. Times are in nanoseconds, in the
order they were taken."""

from dataclasses import field

from kernelbot.domain.values import described, from_fields
from kernelbot.protocol import DuelWorkload, Phase
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class SampledWorkload:
    """One workload in one phase of one run; times in nanoseconds, in the order they were taken."""

    run_id: int
    device: str
    secret: bool
    rejudge_id: int | None = field(
        metadata=described("The rejudge that it was measured for; or null.")
    )
    phase: Phase
    workload: int = field(metadata=described("Counted from 0, in the phase's order."))
    spec: str | None = field(metadata=described("Null in secret runs, for all but admins."))
    median_ns: float
    ci95_ns: tuple[float, float]
    stopped_by: str
    empty_call_ns: float | None = field(metadata=described("Reported, never subtracted."))
    anchor_ns: float | None = field(metadata=described("Median time of the problem's anchor."))
    drift_factors: tuple[float, ...] = field(
        metadata=described(
            "The median and its interval are of the samples times these, one for ten each."
        )
    )
    samples_ns: tuple[float, ...]
    processes: int = field(
        default=1,
        metadata=described(
            "So many took the samples in turn: sample i is of process i modulo this."
        ),
    )


@dataclass(frozen=True)
class PairedWorkload:
    """One workload of a duel; times in nanoseconds, in pairs, in the order they were taken."""

    workload: int = field(metadata=described("Counted from 0, in the problem's order."))
    spec: str | None = field(metadata=described("Null for all but admins: the data is secret."))
    ratio: float = field(metadata=described("The median of the pairs' ratios."))
    ratio_ci95: tuple[float, float]
    stopped_by: str
    submission_ns: tuple[float, ...]
    opponent_ns: tuple[float, ...]
    processes: int = field(
        default=1,
        metadata=described(
            "So many pairs of processes took the samples in turn, as in a measurement."
        ),
    )

    @property
    def named(self) -> DuelWorkload:
        """The pairs by the name that the viewer may read."""
        return from_fields(DuelWorkload, self, spec=workload_name(self.workload, self.spec))


def without_seed(spec: str, index: int) -> str:
    """A workload's arguments but for its seed; its number if it has no others."""
    parts = [part for part in spec.split("; ") if not part.startswith("seed: ")]
    return "; ".join(parts) or workload_name(index, None)


def workload_name(index: int, spec: str | None) -> str:
    """What a workload is called for whom its specification may be secret (None)."""
    return f"workload {index}" if spec is None else spec
