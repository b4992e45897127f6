"""Whether the platform accepts submissions."""

from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class PlatformState:
    """Whether submissions are taken."""

    accepts_jobs: bool
    reason: str = field(metadata=described("Why not; empty when they are."))
