"""Lists of keys."""

from dataclasses import dataclass

from kernelbot.attestations.model import SigningKey


@dataclass(frozen=True)
class SigningKeyList:
    """All keys that have ever signed, the newest first."""

    keys: list[SigningKey]
