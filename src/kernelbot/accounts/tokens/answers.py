"""Lists of tokens."""

from kernelbot.accounts.tokens.model import Token
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class TokenList:
    """The asker's tokens, the newest first."""

    tokens: list[Token]
