"""Invites to closed boards."""

from datetime import datetime

from pydantic import Field

from kernelbot.schemas.common import Answer, Name, RequestBody, Shown, Text


class NewInviteRequest(RequestBody):
    """Invites to make, each for all of the boards."""

    boards: list[Name] = Field(min_length=1, max_length=100)
    count: int = Field(default=1, ge=1, le=10_000)


class NewInvitesView(Answer):
    """Invites just made."""

    boards: list[str]
    codes: list[str]


class InviteView(Shown):
    """An invite, and who claimed it."""

    code: str
    boards: list[str]
    created_at: datetime
    claimed_by: str | None
    claimed_by_id: int | None
    claimed_at: datetime | None


class InviteList(Answer):
    """A board's invites, the newest first."""

    invites: list[InviteView]


class RevokedInvite(Answer):
    """An invite that is no longer valid."""

    was_claimed: bool


class JoinRequest(RequestBody):
    """An invite to claim."""

    code: Text = Field(min_length=1, max_length=100)


class JoinedView(Answer):
    """What the invite opens."""

    boards: list[str]
