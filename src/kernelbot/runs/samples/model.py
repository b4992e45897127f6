"""What was timed in a run, for those who see its samples."""

from dataclasses import dataclass, replace

from kernelbot.protocol import DuelWorkload, Phase, WorkloadResult
from kernelbot.runs.model import Run


@dataclass(frozen=True)
class MeasuredWorkload:
    """One workload of a run. `index`: counted from 0, in the phase's order. `spec` None: it is
    secret, and `times` must not be shown with one."""

    run: Run
    phase: Phase
    index: int
    spec: str | None
    times: WorkloadResult


@dataclass(frozen=True)
class DueledWorkload:
    """One workload of a duel; otherwise as `MeasuredWorkload`."""

    index: int
    spec: str | None
    pairs: DuelWorkload

    @property
    def shown(self) -> DuelWorkload:
        """The pairs by the name that the viewer may read."""
        return replace(self.pairs, spec=workload_name(self.index, self.spec))


def without_seed(spec: str, index: int) -> str:
    """A workload's arguments but for its seed; its number if it has no others."""
    parts = [part for part in spec.split("; ") if not part.startswith("seed: ")]
    return "; ".join(parts) or workload_name(index, None)


def workload_name(index: int, spec: str | None) -> str:
    """What a workload is called for whom its specification may be secret (None)."""
    return f"workload {index}" if spec is None else spec
