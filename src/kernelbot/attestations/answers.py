"""Signed results: the envelope around what is signed, and the keys."""

import base64
import binascii
from dataclasses import field
from typing import Annotated, Final, Literal

from kernelbot.attestations.model import SigningKey
from kernelbot.domain.bounds import Within
from kernelbot.domain.values import SentAs, described
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import NothingElse

PAYLOAD_TYPE: Final = "application/vnd.kernelbot.result.v1+json"
MAX_BYTES = 64 << 20
"""The largest document; thousands of workloads with a thousand samples each fit into it."""

Sha256 = Annotated[str, Within(pattern=r"^[0-9a-f]{64}$")]


def _base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("it isn't base64") from None
    return text


Base64 = Annotated[str, SentAs(str, str, _base64)]


@dataclass(frozen=True)
class SignatureView(NothingElse):
    """A signature and the public key that it fits."""

    keyid: Sha256 = field(metadata=described("SHA-256 of the public key's bytes."))
    sig: Base64
    public_key: Base64 = field(
        metadata=described("Ed25519, 32 bytes. Who reads it can't trust it as such.")
    )


@dataclass(frozen=True)
class SignedDocument(NothingElse):
    """A DSSE envelope with one signature: Ed25519 over
    `DSSEv1 LEN(payloadType) payloadType LEN(payload) payload`, the payload decoded."""

    payload_type: Literal["application/vnd.kernelbot.result.v1+json"] = field(
        metadata={"alias": "payloadType"}
    )
    payload: Base64 = field(metadata=described("An AttestedResult as JSON in UTF-8."))
    signatures: Annotated[tuple[SignatureView, ...], Within(min_length=1, max_length=1)]


@dataclass(frozen=True)
class SigningKeyList:
    """All keys that have ever signed, the newest first."""

    keys: list[SigningKey]
