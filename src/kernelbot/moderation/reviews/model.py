"""What a review is based on."""

from dataclasses import dataclass, field

from kernelbot.domain.values import described


@dataclass(frozen=True)
class Evidence:
    """Something that was noticed about a submission. It decides nothing."""

    source: str = field(metadata=described("What noticed it: `score`, or the name of a tool."))
    rule: str
    severity: str
    detail: str


@dataclass(frozen=True)
class CheckedScore:
    """A submission's score on a device, which is compared with the trusted one."""

    submission_id: int
    leaderboard_id: int
    device: str
    author_id: int
    score_s: float
