"""Signatures of documents: Ed25519 over the encoding of DSSE, the Dead Simple Signing Envelope.

DSSE signs a document's bytes together with their type, so no canonical form is needed, and a
signature of one kind of document is none of another.
"""

import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_BYTES = 32
"""The size of a private key, and of a public one."""
SIGNATURE_BYTES = 64


def new_private_key() -> bytes:
    """A random key."""
    return Ed25519PrivateKey.generate().private_bytes_raw()


def public_key(private_key: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(private_key).public_key().public_bytes_raw()


def key_id(public: bytes) -> str:
    """How people name a public key: its SHA-256, in hexadecimal."""
    return hashlib.sha256(public).hexdigest()


def sign(private_key: bytes, payload_type: str, payload: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(private_key).sign(_signed(payload_type, payload))


def fits(public: bytes, signature: bytes, payload_type: str, payload: bytes) -> bool:
    """Whether the owner of the public key signed exactly this, as exactly this type. A key or a
    signature of another length fits nothing."""
    if len(public) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    try:
        key = Ed25519PublicKey.from_public_bytes(public)
        key.verify(signature, _signed(payload_type, payload))
    except (InvalidSignature, ValueError):
        return False
    return True


def _signed(payload_type: str, payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding, version 1."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
