"""People, their identities, and what admins change of accounts."""

from pydantic import Field

from kernelbot.accounts.logins.model import Identity
from kernelbot.accounts.model import Role, User
from kernelbot.schemas.common import Answer, Name, RequestBody, Text


class NewUser(RequestBody):
    """A person to create."""

    name: Name
    role: Role = Role.COMPETITOR


class AccountList(Answer):
    """Accounts in the order of their numbers."""

    users: list[User]
    next_after_id: int | None = Field(description="For the next page; null on the last.")


class RoleChange(RequestBody):
    """What the person may do from now on."""

    role: Role


class AuthorPageChange(RequestBody):
    """How one's page as an author is shown from now on."""

    private: bool


class Reason(RequestBody):
    """Why, for the audit log."""

    reason: Text = Field(default="", max_length=500)


class IdentityList(Answer):
    """The asker's identities at login providers."""

    identities: list[Identity]
