"""Invites to closed boards."""

from pydantic import Field

from kernelbot.schemas.common import Name, RequestBody, Text


class NewInviteRequest(RequestBody):
    """Invites to make, each for all of the boards."""

    boards: list[Name] = Field(min_length=1, max_length=100)
    count: int = Field(default=1, ge=1, le=10_000)


class JoinRequest(RequestBody):
    """An invite to claim."""

    code: Text = Field(min_length=1, max_length=100)
