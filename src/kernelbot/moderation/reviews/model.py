"""What a review is based on."""

from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


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


@dataclass(frozen=True)
class ReviewRules:
    """What is held automatically. `hold_speedup` None: nothing is held for its speed."""

    hold_speedup: float | None = 20.0
    """How many times faster than a trusted score must be looked
    at by a person first."""
    known_right: bool = True
    """Whether a problem's starter files and right solutions are judged, to compare with."""
    triage: bool = True
    """Whether ranked submissions are shown to kernelguard, if it is installed."""
    refuse_rules: tuple[str, ...] = ()
    """Its rules (`TIMER_MONKEYPATCH`, ...) that refuse automatically; by default none."""
