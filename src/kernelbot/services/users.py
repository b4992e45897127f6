"""Accounts and their tokens."""

from kernelbot.domain.types import NewToken, Role, User


class Users:
    """People with an account."""

    async def create(self, name: str, role: Role = Role.COMPETITOR) -> NewToken:
        """A new account with its first token, whose text is shown this once.

        Raises `Conflict` when the name is taken, `UserError` when it can't be a name.
        """
        raise NotImplementedError

    async def authenticate(self, token: str) -> User:
        """Whose token it is. Raises `NotAuthenticated`. Banned people still get in: they may
        read, and `Submissions.submit` is what refuses them."""
        raise NotImplementedError
