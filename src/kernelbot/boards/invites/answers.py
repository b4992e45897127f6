"""Invites in lists, and what became of one."""

from kernelbot.boards.invites.model import Invite
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class InviteList:
    """A board's invites, the newest first."""

    invites: list[Invite]


@dataclass(frozen=True)
class RevokedInvite:
    """An invite that is no longer valid."""

    was_claimed: bool


@dataclass(frozen=True)
class JoinedView:
    """What the invite opens."""

    boards: list[str]
