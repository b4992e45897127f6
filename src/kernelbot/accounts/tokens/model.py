"""Tokens and browser sessions, as frozen values."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


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
