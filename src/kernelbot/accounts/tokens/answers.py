"""Lists of tokens."""

from dataclasses import dataclass

from kernelbot.accounts.tokens.model import Token


@dataclass(frozen=True)
class TokenList:
    """The asker's tokens, the newest first."""

    tokens: list[Token]
