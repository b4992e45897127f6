"""People with an account, as frozen values."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    """What a person may do."""

    COMPETITOR = "competitor"
    CREATOR = "creator"
    ADMIN = "admin"


@dataclass(frozen=True)
class User:
    """A person with an account."""

    id: int
    name: str
    role: Role
    created_at: datetime
    banned_at: datetime | None = None


@dataclass(frozen=True)
class NewToken:
    """A new token with its text; the store keeps only a hash."""

    user: User
    token: str
