"""Runs: one submission on one device, as frozen values."""

from dataclasses import dataclass
from datetime import datetime

from kernelbot.domain.states import RunState
from kernelbot.protocol import Fault, Mode, RunResult, Verdict
from kernelbot.ranking.model import NotRanked, ScoreInterval


@dataclass(frozen=True)
class Run:
    """One submission on one device, public or secret. `result` None until finished, and in
    views for people who may not see it (secret runs show pass or fail only)."""

    id: int
    submission_id: int
    device: str
    mode: Mode
    secret: bool
    state: RunState
    verdict: Verdict | None
    score_s: float | None
    attempts: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    fault: Fault | None
    message: str | None
    """Why it was not accepted, in one sentence."""
    result: RunResult | None
    rejudge_id: int | None = None
    """The rejudge that measured it again; None for the submission's own runs."""
    unverified: bool = False
    """Measured by the problem's own script."""
    not_ranked: NotRanked | None = None
    """Why an accepted secret run isn't in the ranking; None: it is, or it isn't such a run."""
    interval: ScoreInterval | None = None
    """The interval of a ranked run's score; None: there is none, or the run isn't ranked."""
    repeats: int = 0
    """How often it was measured again, or is being, because its interval was too wide or the
    machine busy."""
