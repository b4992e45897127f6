"""Whether the platform accepts submissions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PlatformState:
    """Whether submissions are taken; `reason` says why not, and is empty else."""

    accepts_jobs: bool
    reason: str
