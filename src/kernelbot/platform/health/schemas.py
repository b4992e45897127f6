"""Whether the server works."""

from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.platform.health.model import Readiness, ReadinessPart
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class HealthView:
    """The process answers."""

    status: str
    version: str


@dataclass(frozen=True)
class ReadyView:
    """Whether requests are answered and submissions taken, and whether these are judged."""

    ready: bool
    judging: bool = field(
        metadata=described("Whether workers and at least one device are there as well.")
    )
    parts: list[ReadinessPart]

    @classmethod
    def from_domain(cls, readiness: Readiness) -> "ReadyView":
        """The domain's readiness."""
        parts = list(readiness.everything)
        return cls(ready=readiness.ok, judging=readiness.judges, parts=parts)
