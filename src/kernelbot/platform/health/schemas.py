"""Whether the server works."""

from pydantic import Field

from kernelbot.platform.health.model import Readiness
from kernelbot.schemas.common import Answer, Shown


class HealthView(Answer):
    """The process answers."""

    status: str
    version: str


class PartView(Shown):
    """One part the server needs."""

    name: str
    ok: bool
    note: str


class ReadyView(Answer):
    """Whether requests are answered and submissions taken, and whether these are judged."""

    ready: bool
    judging: bool = Field(description="Whether workers and at least one device are there as well.")
    parts: list[PartView]

    @classmethod
    def of(cls, readiness: Readiness) -> "ReadyView":
        """The domain's readiness."""
        parts = [PartView.of(part) for part in readiness.everything]
        return cls(ready=readiness.ok, judging=readiness.judges, parts=parts)
