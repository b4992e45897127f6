"""People and their tokens."""

from datetime import datetime

from pydantic import Field

from kernelbot.domain.types import NewToken, Role
from kernelbot.schemas.common import Name, RequestBody, Shown


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
