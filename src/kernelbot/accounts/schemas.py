"""People, their identities, and what admins change of accounts."""

from datetime import datetime

from pydantic import Field

from kernelbot.accounts.model import NewToken, Role
from kernelbot.schemas.common import Answer, Name, RequestBody, Shown, Text


class UserView(Shown):
    """A person with an account."""

    id: int
    name: str
    role: Role
    created_at: datetime


class NewUser(RequestBody):
    """A person to create."""

    name: Name
    role: Role = Role.COMPETITOR


class NewUserView(UserView):
    """A person just created; the token is shown only now and can't be read again."""

    token: str = Field(description="For `Authorization: Bearer`. Shown only now.")

    @classmethod
    def of_token(cls, new: NewToken) -> "NewUserView":
        """The domain's new token."""
        user = new.user
        return cls(
            id=user.id,
            name=user.name,
            role=user.role,
            created_at=user.created_at,
            token=new.token,
        )


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
