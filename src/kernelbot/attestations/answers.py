"""Lists of keys."""

from kernelbot.attestations.model import SigningKey
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class SigningKeyList:
    """All keys that have ever signed, the newest first."""

    keys: list[SigningKey]
