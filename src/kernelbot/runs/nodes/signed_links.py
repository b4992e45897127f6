"""Signatures of links that work without a token: for one purpose, one subject, until a moment."""

import hmac
from dataclasses import dataclass
from enum import StrEnum


class Purpose(StrEnum):
    """What a link is good for. A signature for one is none for the other."""

    PAYLOAD = "payload"
    EVENTS = "events"


@dataclass(frozen=True)
class Signed:
    """What whoever uses a link shows. `subject` names a job; `expires_at` is in seconds since
    1970, by the database's clock."""

    subject: str
    expires_at: int
    signature: str


def sign(key: bytes, purpose: Purpose, subject: str, expires_at: int) -> Signed:
    """A subject must not contain line breaks."""
    return Signed(subject, expires_at, _digest(key, purpose, subject, expires_at))


def is_genuine(key: bytes, purpose: Purpose, shown: Signed) -> bool:
    """Whether it was signed with the key, for this purpose; whether its time is over is another
    question. In constant time."""
    expected = _digest(key, purpose, shown.subject, shown.expires_at)
    return hmac.compare_digest(expected.encode(), shown.signature.encode("utf-8", "replace"))


def _digest(key: bytes, purpose: Purpose, subject: str, expires_at: int) -> str:
    message = f"{purpose}\n{subject}\n{expires_at}".encode("utf-8", "surrogatepass")
    return hmac.new(key, message, "sha256").hexdigest()
