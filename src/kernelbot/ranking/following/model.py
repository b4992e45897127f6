"""What a person follows."""

from dataclasses import field
from datetime import datetime

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class FollowedAuthor:
    """An author whose page the follower may see."""

    id: int
    name: str


@dataclass(frozen=True)
class News:
    """A record on a followed board, or a score of a followed author that counts."""

    board: str
    device: str
    author: str
    score_s: float
    achieved_at: datetime
    record: bool = field(
        metadata=described("It was the best of its board's device when it was submitted.")
    )
    page_id: int | None = field(
        default=None,
        metadata=described("By which the author's page is found; null: they keep it private."),
    )


@dataclass(frozen=True)
class Following:
    """The boards and authors that a person follows, as far as they may see them, and what was
    there last, the newest first."""

    boards: tuple[str, ...]
    authors: tuple[FollowedAuthor, ...]
    news: tuple[News, ...]
