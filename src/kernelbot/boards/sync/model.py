"""What a sync of problems is asked for, what it plans, and what it has done."""

import hashlib
from dataclasses import field
from enum import StrEnum

from kernelbot.boards.model import Visibility
from kernelbot.protocol.late import dataclass


class SyncAction(StrEnum):
    """What happens to a board."""

    CREATE = "create"
    UPDATE = "update"
    SKIP = "skip"
    ERROR = "error"


@dataclass(frozen=True)
class SyncOptions:
    """How problems are taken over."""

    force: bool = False
    """Also change boards whose deadline has passed, or that this competition didn't make."""
    dry_run: bool = False
    """Only plan."""
    problem_set: str | None = None
    """The stem of the one competition file to read; None: all of them."""
    visibility: Visibility = Visibility.PUBLIC
    """Who sees the boards that are created. Others keep theirs."""
    plan: str | None = None
    """The digest of the plan that somebody agreed to: nothing is done if another has come of it.
    None: whatever it says."""
    archive: str | None = None
    """The SHA-256 of the archive of that plan: nothing is done with another. None: with any."""


@dataclass(frozen=True)
class SyncItem:
    """A board, or a file that can't be read, and what happens to it."""

    action: SyncAction
    board: str
    """The board's name; the file's path if no board can be named."""
    competition: str
    reason: str
    """Why it is skipped or refused, or what changes."""


@dataclass(frozen=True)
class SyncOutcome:
    """What was planned, and also done unless `applied` is false."""

    source: str
    commit: str | None
    applied: bool
    items: tuple[SyncItem, ...]
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    """What the files say and nobody reads, such as a misspelt key, with its place."""

    @property
    def digest(self) -> str:
        """A digest of all items: equal plans do the same to the same boards."""
        lines = [
            repr((one.action.value, one.board, one.competition, one.reason)) for one in self.items
        ]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def with_action(self, action: SyncAction) -> tuple[SyncItem, ...]:
        return tuple(item for item in self.items if item.action is action)


@dataclass(frozen=True)
class ArchiveOutcome(SyncOutcome):
    """What came of an archive, and which it was."""

    archive: str
    """Its SHA-256."""
