"""Invites to closed boards."""

from pydantic import Field

from kernelbot.boards.invites.model import Invite
from kernelbot.schemas.common import Answer, Name, RequestBody, Text


class NewInviteRequest(RequestBody):
    """Invites to make, each for all of the boards."""

    boards: list[Name] = Field(min_length=1, max_length=100)
    count: int = Field(default=1, ge=1, le=10_000)


class InviteList(Answer):
    """A board's invites, the newest first."""

    invites: list[Invite]


class RevokedInvite(Answer):
    """An invite that is no longer valid."""

    was_claimed: bool


class JoinRequest(RequestBody):
    """An invite to claim."""

    code: Text = Field(min_length=1, max_length=100)


class JoinedView(Answer):
    """What the invite opens."""

    boards: list[str]
