"""Invites in lists, and what became of one."""

from dataclasses import dataclass

from kernelbot.boards.invites.model import Invite


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
