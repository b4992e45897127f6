"""Tokens, invites, limits, the platform's state, the audit log."""

from datetime import datetime

from pydantic import AwareDatetime, Field

from kernelbot.domain.accounts import (
    IssuedToken,
    LimitCategory,
    TokenKind,
)
from kernelbot.domain.types import Role, Visibility
from kernelbot.schemas.common import Answer, Name, RequestBody, Shown, Text
from kernelbot.schemas.users import UserView


class AccountView(UserView):
    """A person, as admins see them."""

    banned_at: datetime | None


class AccountList(Answer):
    """Accounts in the order of their numbers."""

    users: list[AccountView]
    next_after_id: int | None = Field(description="For the next page; null on the last.")


class RoleChange(RequestBody):
    """What the person may do from now on."""

    role: Role


class Reason(RequestBody):
    """Why, for the audit log."""

    reason: Text = Field(default="", max_length=500)


class IdentityView(Shown):
    """Someone at a provider."""

    provider: str
    subject: str
    created_at: datetime


class IdentityList(Answer):
    """The asker's identities at login providers."""

    identities: list[IdentityView]


class TokenView(Shown):
    """A token or a browser's session, without its text."""

    id: int
    name: str
    created_at: datetime
    expires_at: datetime | None
    kind: TokenKind = Field(
        default=TokenKind.TOKEN, description="A `token` opens the API, a `session` the web pages."
    )
    parent_id: int | None = Field(
        default=None, description="The token that made it, with which it ends."
    )


class TokenList(Answer):
    """The asker's tokens, the newest first."""

    tokens: list[TokenView]


class NewTokenRequest(RequestBody):
    """A token to make."""

    name: Name = Field(description="What it is for, to know it by later.")
    expires_at: AwareDatetime | None = None


class IssuedTokenView(TokenView):
    """A token just made; its text is shown only now and can't be read again."""

    token: str = Field(description="For `Authorization: Bearer`. Shown only now.")

    @classmethod
    def of_issued(cls, issued: IssuedToken) -> "IssuedTokenView":
        """The domain's issued token."""
        seen = issued.token
        return cls(
            id=seen.id,
            name=seen.name,
            created_at=seen.created_at,
            expires_at=seen.expires_at,
            kind=seen.kind,
            parent_id=seen.parent_id,
            token=issued.text,
        )


class PlatformView(Shown):
    """Whether submissions are taken."""

    accepts_jobs: bool
    reason: str = Field(description="Why not; empty when they are.")


class AuditEntryView(Shown):
    """What an organiser did."""

    id: int
    actor: str
    actor_id: int | None
    action: str
    subject: str
    detail: dict[str, str | int | float | bool | None]
    created_at: datetime


class AuditPage(Answer):
    """Entries, the newest first."""

    entries: list[AuditEntryView]
    next_before_id: int | None = Field(description="For the next page; null on the last.")


class BoardChange(RequestBody):
    """What to change of a board; what is left out stays."""

    visibility: Visibility | None = None
    deadline: AwareDatetime | None = Field(default=None, description="null: remove it.")
    reveal_code: bool | None = Field(
        default=None, description="Whether everyone may read the code after the deadline."
    )
    fixed_seed: bool | None = Field(
        default=None, description="Whether all secret runs share one seed; else each has its own."
    )
    refuse_unavailable: bool | None = Field(
        default=None,
        description="Whether submissions for a device that takes no jobs are refused; else they "
        "wait.",
    )


class LimitView(Shown):
    """How many submissions of a category each author may make within an hour."""

    category: LimitCategory
    max_per_hour: int = Field(description="0: none are accepted.")


class LimitList(Answer):
    """A board's limits; a category that isn't listed has no limit."""

    limits: list[LimitView]


class NewLimit(RequestBody):
    """A limit to set."""

    max_per_hour: int = Field(ge=0, le=1_000_000, description="0: none are accepted.")


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
