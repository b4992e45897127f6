"""Tokens: 256 random bits as text, of which the store keeps only a hash."""

import hashlib
import secrets

_PREFIX = "kb_"


def new_token() -> str:
    """A fresh token. The prefix lets secret scanners recognise one that leaked."""
    return _PREFIX + secrets.token_urlsafe()


def token_hash(token: str) -> bytes:
    """SHA-256 of the token; a slow hash isn't needed, since nobody can guess 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def setting_hash(secret: str) -> bytes:
    """The hash of a secret that a person chose: a slow one (some 50 ms), so that nobody who reads
    the database can try out what it is."""
    encoded = secret.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(encoded, salt=b"kernelbot setting", n=1 << 14, r=8, p=1, dklen=32)
