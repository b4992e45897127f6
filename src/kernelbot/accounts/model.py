"""People with an account, as frozen values."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


class Role(StrEnum):
    """What a person may do."""

    COMPETITOR = "competitor"
    CREATOR = "creator"
    ADMIN = "admin"


@dataclass(frozen=True)
class Person:
    """A person with an account."""

    id: int
    name: str
    role: Role
    created_at: datetime


@dataclass(frozen=True)
class Me(Person):
    """Whoever asks, with what they have shown."""

    token_expires_at: datetime | None = field(
        default=None,
        metadata=described(
            "When the token ends, with what it was made with at the latest. Null: it doesn't end "
            "by itself."
        ),
    )


@dataclass(frozen=True)
class User(Person):
    """A person, as admins see them."""

    banned_at: datetime | None


@dataclass(frozen=True)
class AuthorPage:
    """How an account's page as an author is shown."""

    private: bool = field(
        metadata=described(
            "Only the author and admins find the page; else whoever sees a ranking with them."
        )
    )


@dataclass(frozen=True)
class NewAccount(Person):
    """A person just created; the token is shown only now and can't be read again."""

    token: str = field(
        repr=False, metadata=described("For `Authorization: Bearer`. Shown only now.")
    )


@dataclass(frozen=True)
class NewToken:
    """An account, and the text of a token or session that was just made for it; the store keeps
    only a hash."""

    user: User
    token: str = field(repr=False)

    @property
    def account(self) -> NewAccount:
        """What the person is sent."""
        user = self.user
        return NewAccount(user.id, user.name, user.role, user.created_at, self.token)
