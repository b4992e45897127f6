"""Progress, one JSON line each, while a job runs. Events inform; only the result decides."""

from enum import StrEnum

from kernelbot.protocol.enums import Phase, Verdict
from kernelbot.protocol.late import dataclass


class EventKind(StrEnum):
    """What just happened."""

    STARTED = "started"
    COMPILING = "compiling"
    """In a build step, before anything has a GPU."""
    COMPILED = "compiled"
    PHASE_STARTED = "phase_started"
    WAITING = "waiting"
    """For another measurement on the same machine."""
    WAITED = "waited"
    """`duration_s`: so long; measuring begins, or goes on."""
    CASE = "case"
    WORKLOAD = "workload"
    PHASE_FINISHED = "phase_finished"
    FINISHED = "finished"


@dataclass(frozen=True)
class ProgressEvent:
    """One step. Fields that don't apply to the kind are None. Secret runs carry no specs."""

    kind: EventKind
    phase: Phase | None = None
    index: int | None = None
    total: int | None = None
    spec: str | None = None
    verdict: Verdict | None = None
    message: str | None = None
    median_ns: float | None = None
    duration_s: float | None = None
    of_opponent: bool = False
    """Whether a duel's event is about the opponent's kernel alone."""
