"""Names of jobs: ours in a scheduler, and a scheduler's in our handles."""

import re
from dataclasses import dataclass

from kernelbot.domain.errors import PlatformError

_JOB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")
_HANDLE = re.compile(rf"([0-9]{{1,18}}):({_JOB_ID.pattern})")


@dataclass(frozen=True)
class Handle:
    """The scheduler's number of a job, and the attempt that it was made for: `4711:12.1.0123ab`.
    The second tells a job of ours from one that got its number later."""

    number: str
    attempt: str

    @classmethod
    def parse(cls, text: str) -> "Handle | None":
        """None: no handle that we have made."""
        found = _HANDLE.fullmatch(text)
        return cls(found[1], found[2]) if found else None

    def __str__(self) -> str:
        return f"{self.number}:{self.attempt}"


def job_name(attempt: str) -> str:
    """By which a scheduler's job is found again."""
    return f"kernelbot-{attempt}"


def check_job_id(job_id: str) -> str:
    """The id, which names folders and jobs. Raises `PlatformError` if it can't."""
    if not _JOB_ID.fullmatch(job_id):
        raise PlatformError(f"{job_id[:80]!r} can't name a job.")
    return job_id
