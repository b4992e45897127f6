"""A person's own tokens."""

from pydantic import AwareDatetime, Field

from kernelbot.accounts.tokens.model import Token
from kernelbot.schemas.common import Answer, Name, RequestBody


class TokenList(Answer):
    """The asker's tokens, the newest first."""

    tokens: list[Token]


class NewTokenRequest(RequestBody):
    """A token to make."""

    name: Name = Field(description="What it is for, to know it by later.")
    expires_at: AwareDatetime | None = None
