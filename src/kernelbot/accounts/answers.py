"""Lists of accounts and identities."""

from dataclasses import field

from kernelbot.accounts.logins.model import Identity
from kernelbot.accounts.model import User
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class AccountList:
    """Accounts in the order of their numbers."""

    users: list[User]
    next_after_id: int | None = field(metadata=described("For the next page; null on the last."))


@dataclass(frozen=True)
class IdentityList:
    """The asker's identities at login providers."""

    identities: list[Identity]
