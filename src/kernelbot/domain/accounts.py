"""Accounts and what organisers set, as frozen values. Times are UTC-aware datetimes."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from kernelbot.domain.types import User
from kernelbot.protocol import Mode


class Registration(StrEnum):
    """Who may make an account by logging in for the first time."""

    OPEN = "open"
    INVITE = "invite"
    CLOSED = "closed"


class LimitCategory(StrEnum):
    """What a rate limit counts together: ranked submissions, or all others."""

    TEST = "test"
    LEADERBOARD = "leaderboard"

    @classmethod
    def of(cls, mode: Mode) -> "LimitCategory":
        """The category that a submission in this mode counts for."""
        return cls.LEADERBOARD if mode is Mode.LEADERBOARD else cls.TEST


@dataclass(frozen=True)
class Identity:
    """Someone at a provider. `subject` is unique within the provider alone."""

    provider: str
    subject: str
    created_at: datetime


class TokenKind(StrEnum):
    """What a secret of ours opens: a `token` the API, a browser's `session` the pages. A
    `setting` opens nothing: what was made with ADMIN_TOKEN ends with it."""

    TOKEN = "token"  # noqa: S105  # a word, no secret
    SESSION = "session"
    SETTING = "setting"


@dataclass(frozen=True)
class Token:
    """A token or a session without its text. It ends at `expires_at` (None: never) or with the
    token `parent_id` that it was made with (None: with none)."""

    id: int
    name: str
    created_at: datetime
    expires_at: datetime | None
    kind: TokenKind = TokenKind.TOKEN
    parent_id: int | None = None


@dataclass(frozen=True)
class Credential:
    """What somebody showed to be let in: the text of a token or session, or, with `of_settings`,
    ADMIN_TOKEN."""

    text: str = field(repr=False)
    of_settings: bool = False


@dataclass(frozen=True)
class IssuedToken:
    """A new token with its text, which only this moment knows."""

    token: Token
    text: str = field(repr=False)


@dataclass(frozen=True)
class AuditEntry:
    """What an organiser did. `actor` is the name at that time."""

    id: int
    actor: str
    actor_id: int | None
    """None once the account is deleted."""
    action: str
    subject: str
    detail: dict[str, str | int | float | bool | None]
    created_at: datetime


@dataclass(frozen=True)
class PlatformState:
    """Whether submissions are taken; `reason` says why not, and is empty else."""

    accepts_jobs: bool
    reason: str


@dataclass(frozen=True)
class RateLimit:
    """How many submissions of a category an author may make to a board within an hour."""

    category: LimitCategory
    max_per_hour: int
    """0: none at all."""


@dataclass(frozen=True)
class Invite:
    """Opens its boards to one person. The `claimed` values are None until someone claims it."""

    code: str
    boards: tuple[str, ...]
    created_at: datetime
    claimed_by: str | None
    claimed_by_id: int | None
    claimed_at: datetime | None


@dataclass(frozen=True)
class DeviceLogin:
    """A login that a terminal began: it keeps `device_code`, a person types `user_code`."""

    device_code: str = field(repr=False)
    user_code: str
    expires_in_s: int
    interval_s: int
    """Time to leave between polls."""


@dataclass(frozen=True)
class LoggedIn:
    """An account, and a token for the person who has just proved to own it."""

    user: User
    token: str = field(repr=False)
