"""What signed documents are made of, beside runs and their results."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class SigningKey:
    """A public key of the platform. `retired_at` None: it signs."""

    key_id: str
    public_key: bytes
    created_at: datetime
    retired_at: datetime | None


@dataclass(frozen=True)
class ProblemVersionName:
    """A problem's version, with SHA-256 hashes of the definition and of what judging depends on."""

    problem: str
    id: int
    content_sha256: bytes
    judging_sha256: bytes
