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
