"""Tokens and browser sessions, as frozen values."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from kernelbot.domain.moments import Moment
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


class TokenKind(StrEnum):
    """What a secret of ours opens: a `token` the API, a browser's `session` the pages. A
    `setting` opens nothing: what was made with ADMIN_TOKEN ends with it."""

    TOKEN = "token"  # noqa: S105  # a word, no secret
    SESSION = "session"
    SETTING = "setting"


@dataclass(frozen=True)
class Token:
    """A token or a browser's session, without its text."""

    id: int
    name: str
    created_at: datetime
    expires_at: datetime | None = field(metadata=described("Null: it doesn't end by itself."))
    kind: TokenKind = field(
        default=TokenKind.TOKEN,
        metadata=described("A `token` opens the API, a `session` the web pages."),
    )
    parent_id: int | None = field(
        default=None, metadata=described("The token that made it, with which it ends.")
    )


@dataclass(frozen=True)
class Credential:
    """What somebody showed to be let in: the text of a token or session, or, with `of_settings`,
    ADMIN_TOKEN."""

    text: str = field(repr=False)
    of_settings: bool = False


@dataclass(frozen=True)
class OwnerLook:
    """What tells whether an answer to a token's owner is still true: as long as `stamp` is the
    same. `moment`: when that was found; None: nobody asks whether it lasts."""

    owner_id: int
    stamp: int
    moment: Moment | None = field(default=None, compare=False)


@dataclass(frozen=True)
class IssuedToken(Token):
    """A token just made; its text is shown only now and can't be read again."""

    token: str = field(
        kw_only=True, repr=False, metadata=described("For `Authorization: Bearer`. Shown only now.")
    )
