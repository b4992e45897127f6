"""Signed results, checked without a server."""

import base64
import re

from kernelbot.attestations.answers import MAX_BYTES, SignedDocument
from kernelbot.attestations.schemas import AttestedResult, read_strictly
from kernelbot.attestations.signatures import KEY_BYTES, fits, key_id
from kernelbot.client.recomputing import ScoreCheck, check_scores
from kernelbot.domain.errors import UserError
from kernelbot.domain.next_steps import Next
from kernelbot.protocol.late import dataclass


class DoesNotFit(UserError):
    """The document was understood, and it isn't what its signer signed, or isn't what was expected
    of it."""

    code = "signature_does_not_fit"


@dataclass(frozen=True)
class VerifiedDocument:
    """A result, and the id of the key whose owner signed it."""

    result: AttestedResult
    key_id: str
    is_pinned: bool
    """Whether the caller said which key it must be. Else anybody may have signed it."""
    checks: tuple[ScoreCheck, ...]
    """What became of computing the runs' scores again, in their order."""


def verify(content: bytes, key: str | None = None) -> VerifiedDocument:
    """What a signed document says, if it was signed as it is and its scores follow from its
    samples. `key`: the public key that must have signed it, in base64, or its id; None: the one
    that the document names.

    Raises `DoesNotFit`, `DoesNotFollow` if a figure isn't what the samples in the document show,
    and `UserError` for what isn't such a document, or isn't a key. A caller
    needs to read one byte more than `MAX_BYTES` at most.
    """
    if len(content) > MAX_BYTES:
        raise UserError(
            f"The document is larger than {MAX_BYTES >> 20} MiB, the most that is read."
        )
    expected = None if key is None else _expected(key)
    document = read_strictly(SignedDocument, content, "The document")
    signature = document.signatures[0]
    public = base64.b64decode(signature.public_key)
    payload = base64.b64decode(document.payload)
    if not fits(public, base64.b64decode(signature.sig), document.payload_type, payload):
        raise DoesNotFit(
            "The signature doesn't fit: the document was changed after it was signed, "
            "or was never signed by this key.",
            hint="Believe nothing in it. Get the document again, from whoever exported it.",
        )
    signer = key_id(public)
    if signature.keyid != signer:
        raise DoesNotFit("The document names another key than the one that it was signed by.")
    if expected not in (None, signer):
        raise DoesNotFit(
            f"The signature is by another key: {signer}.",
            hint="Is it of another platform, or forged? See its GET /api/v1/signing-keys.",
        )
    result = read_strictly(AttestedResult, payload, "What was signed")
    checks = tuple(check_scores(result))
    return VerifiedDocument(result, signer, is_pinned=expected is not None, checks=checks)


def _expected(key: str) -> str:
    """The id of a key that somebody typed."""
    if re.fullmatch(r"[0-9a-f]{64}", key):
        return key
    try:
        public = base64.b64decode(key, validate=True)
    except ValueError:
        public = b""
    if len(public) != KEY_BYTES:
        raise UserError(
            "This isn't a key: it must be a public key in base64 (44 characters), or a key's id "
            "(64 hexadecimal digits).",
            next_step=Next.LIST_SIGNING_KEYS,
        )
    return key_id(public)
