"""Whether the server works."""

from pydantic import Field

from kernelbot.platform.health.model import Readiness, ReadinessPart
from kernelbot.schemas.common import Answer


class HealthView(Answer):
    """The process answers."""

    status: str
    version: str


class ReadyView(Answer):
    """Whether requests are answered and submissions taken, and whether these are judged."""

    ready: bool
    judging: bool = Field(description="Whether workers and at least one device are there as well.")
    parts: list[ReadinessPart]

    @classmethod
    def from_domain(cls, readiness: Readiness) -> "ReadyView":
        """The domain's readiness."""
        parts = list(readiness.everything)
        return cls(ready=readiness.ok, judging=readiness.judges, parts=parts)
