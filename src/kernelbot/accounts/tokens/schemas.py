"""A person's own tokens."""

from datetime import datetime

from pydantic import AwareDatetime, Field

from kernelbot.accounts.tokens.model import IssuedToken, TokenKind
from kernelbot.schemas.common import Answer, Name, RequestBody, Shown


class TokenView(Shown):
    """A token or a browser's session, without its text."""

    id: int
    name: str
    created_at: datetime
    expires_at: datetime | None
    kind: TokenKind = Field(
        default=TokenKind.TOKEN, description="A `token` opens the API, a `session` the web pages."
    )
    parent_id: int | None = Field(
        default=None, description="The token that made it, with which it ends."
    )


class TokenList(Answer):
    """The asker's tokens, the newest first."""

    tokens: list[TokenView]


class NewTokenRequest(RequestBody):
    """A token to make."""

    name: Name = Field(description="What it is for, to know it by later.")
    expires_at: AwareDatetime | None = None


class IssuedTokenView(TokenView):
    """A token just made; its text is shown only now and can't be read again."""

    token: str = Field(description="For `Authorization: Bearer`. Shown only now.")

    @classmethod
    def of_issued(cls, issued: IssuedToken) -> "IssuedTokenView":
        """The domain's issued token."""
        seen = issued.token
        return cls(
            id=seen.id,
            name=seen.name,
            created_at=seen.created_at,
            expires_at=seen.expires_at,
            kind=seen.kind,
            parent_id=seen.parent_id,
            token=issued.text,
        )
