"""Documents that anybody could have signed."""

import base64
import json
from typing import Any

from kernelbot.identity.signatures import key_id, public_key, sign
from kernelbot.schemas.attestations import PAYLOAD_TYPE

KEY = b"k" * 32
RESULT: dict[str, Any] = {
    "submission_id": 12,
    "board": "a'; echo x",
    "author": "ada\x1b[31m",
    "mode": "leaderboard",
    "submitted_at": "2027-01-31T12:00:00Z",
    "source": {"file_name": "fast.py", "sha256": "ab" * 32},
    "review": "clear",
    "verdict": "accepted",
    "score_s": 0.5,
    "runs": [],
    "signed_at": "2027-01-31T12:00:01Z",
}


def text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def envelope(payload: bytes | None = None, *, key: bytes = KEY) -> dict[str, Any]:
    """A signed document, by default of `RESULT`."""
    payload = json.dumps(RESULT).encode() if payload is None else payload
    public = public_key(key)
    signature = text(sign(key, PAYLOAD_TYPE, payload))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": text(payload),
        "signatures": [{"keyid": key_id(public), "sig": signature, "public_key": text(public)}],
    }
