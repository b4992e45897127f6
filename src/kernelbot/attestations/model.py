"""What signed documents are made of, beside runs and their results."""

from dataclasses import field
from datetime import datetime

from kernelbot.domain.values import described
from kernelbot.protocol import RankRule
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class SigningKey:
    """A public key of the platform."""

    key_id: str
    public_key: str = field(metadata=described("Ed25519, 32 bytes in base64."))
    created_at: datetime
    retired_at: datetime | None = field(
        metadata=described("Null: it signs. Else it did until then.")
    )


@dataclass(frozen=True)
class ProblemVersionName:
    """A problem's version, with SHA-256 hashes of the definition and of what judging depends on,
    and how scores are made of its workloads' times."""

    problem: str
    id: int
    content_sha256: bytes
    judging_sha256: bytes
    ranking_by: RankRule
