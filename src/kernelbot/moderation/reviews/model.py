"""What a review is based on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Evidence:
    """Something that was noticed about a submission, for organisers. It decides nothing."""

    source: str
    """What noticed it: `score`, or the name of a tool."""
    rule: str
    severity: str
    detail: str
