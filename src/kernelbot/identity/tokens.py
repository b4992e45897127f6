"""Tokens: 256 random bits as text, of which the store keeps only a hash."""

import hashlib
import secrets

_PREFIX = "kb_"


def new_token() -> str:
    """A fresh token. The prefix lets secret scanners recognise one that leaked."""
    return _PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> bytes:
    """SHA-256 of the token; a slow hash isn't needed, since nobody can guess 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
