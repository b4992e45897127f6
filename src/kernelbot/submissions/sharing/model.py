"""A link to a result, and what somebody sees by it."""

from dataclasses import field
from datetime import datetime

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass
from kernelbot.ranking.model import Score

RESULT = "/result"
"""Where results are, by their links' secrets."""


@dataclass(frozen=True)
class ResultLink:
    """A link by which whoever has it reads a submission's result."""

    submission_id: int
    path: str = field(
        repr=False, metadata=described("The page's path on this server. Its last part is secret.")
    )
    shows_code: bool = field(
        metadata=described("Also the code, once the board's deadline has passed, if it has one.")
    )
    created_at: datetime


@dataclass(frozen=True)
class SharedResult:
    """A ranked submission's result on the device of its score, as anybody with the link sees it."""

    score: Score
    board: str
    device: str
    author_id: int
    rank: int | None
    """None: it isn't its author's best there, or isn't ranked."""
    shared: bool
    """Whether others have the same rank."""
    authors: int
    """How many are ranked on the device."""
    version: int
    """The ranking's, which changes with it."""
    unverified: bool
    """Measured by the problem's own script."""
    file_name: str
    code: str | None
    """None: the author doesn't show it, or not yet."""
    code_from: datetime | None
    """When the code will be shown that the author shows; None: it is, or never will be."""
