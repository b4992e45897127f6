"""The runner's messages as bytes."""

import json
from typing import Any

_MAX_REPLY_BYTES = 2 << 20


def packed(message: dict[str, Any]) -> bytes:
    """A message as JSON; of one that is too long, that its value isn't supported."""
    body = json.dumps(message).encode()
    if len(body) <= _MAX_REPLY_BYTES:
        return body
    return json.dumps({"op": "unsupported", "what": "a value with too many parts"}).encode()
