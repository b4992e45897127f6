"""The terms on which a run is judged: the operator's rules, and what is an attempt's own."""

import hashlib
import hmac
from dataclasses import dataclass, field

from kernelbot.domain.job_terms import JobTerms
from kernelbot.domain.types import DeviceConfig, QueueRules
from kernelbot.protocol import Limits, SamplingRules, SandboxMode
from kernelbot.services.moderation.reviews import ReviewRules
from kernelbot.store.attempts import LockedRun


@dataclass(frozen=True)
class RunRules:
    """What every job gets, and after how long a silent worker counts as dead."""

    limits: Limits
    sampling: SamplingRules
    sandbox: SandboxMode
    stale_s: float
    review: ReviewRules = field(default_factory=ReviewRules)
    queue: QueueRules = field(default_factory=QueueRules)


def terms_of(run: LockedRun, number: int, device: DeviceConfig, rules: RunRules) -> JobTerms:
    """The terms of a run's attempt with this number, the same each time."""
    return JobTerms(
        job_id=_job_id(run, number),
        mode=run.mode,
        device=device.spec,
        secret=run.secret,
        seed=_secret_seed(run, number) if run.secret else None,
        limits=rules.limits,
        sampling=rules.sampling,
        sandbox=rules.sandbox,
    )


def _secret_seed(run: LockedRun, number: int) -> int:
    """A seed for this attempt only, the same each time it is computed. All runs of a rejudge share
    one, and all runs of a board with `fixed_seed`."""
    if run.fixed_seed:
        return int.from_bytes(run.board_secret[:4], "big") >> 1
    name = f"run {run.id}.{number}" if run.rejudge_id is None else f"rejudge {run.rejudge_id}"
    drawn = hmac.digest(run.board_secret, name.encode(), "sha256")
    return int.from_bytes(drawn[:4], "big") >> 1


def _job_id(run: LockedRun, number: int) -> str:
    """An id that is always the same for one attempt, and differs between databases."""
    name = f"{run.id}.{number}"
    mark = hashlib.sha256(run.board_secret + name.encode()).hexdigest()[:12]
    return f"{name}.{mark}"
