"""People, their identities, and what admins change of accounts."""

from pydantic import Field

from kernelbot.accounts.model import Role
from kernelbot.schemas.common import Name, RequestBody, Text


class NewUser(RequestBody):
    """A person to create."""

    name: Name
    role: Role = Role.COMPETITOR


class RoleChange(RequestBody):
    """What the person may do from now on."""

    role: Role


class AuthorPageChange(RequestBody):
    """How one's page as an author is shown from now on."""

    private: bool


class Reason(RequestBody):
    """Why, for the audit log."""

    reason: Text = Field(default="", max_length=500)
