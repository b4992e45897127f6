"""People, their identities, and what admins change of accounts."""

from typing import Annotated

from kernelbot.accounts.model import Role
from kernelbot.domain.bounds import Within
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import Name, RequestBody


@dataclass(frozen=True)
class NewUser(RequestBody):
    """A person to create."""

    name: Name
    role: Role = Role.COMPETITOR


@dataclass(frozen=True)
class RoleChange(RequestBody):
    """What the person may do from now on."""

    role: Role


@dataclass(frozen=True)
class AuthorPageChange(RequestBody):
    """How one's page as an author is shown from now on."""

    private: bool


@dataclass(frozen=True)
class Reason(RequestBody):
    """Why, for the audit log."""

    reason: Annotated[str, Within(max_length=500)] = ""
