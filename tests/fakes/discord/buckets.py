"""Rate limits as Discord tells of them: each route has a bucket for each channel, guild or webhook,
and every answer says how much of it is left."""

import hashlib
import math
import time
from dataclasses import dataclass

from aiohttp import web

_MAJOR = ("channel", "guild", "app", "token")
_MESSAGES, _OTHERS = 5, 10


@dataclass
class _Bucket:
    left: int
    ends_s: float


class Buckets:
    """The counts are like Discord's; the time is shorter, so that tests don't wait."""

    def __init__(self, window_s: float = 0.05) -> None:
        self.window_s = window_s
        self._buckets: dict[tuple[str, ...], _Bucket] = {}

    def use(self, request: web.Request, route: str) -> tuple[bool, dict[str, str]]:
        """Count a request; whether it is within the limit, and the headers of its answer."""
        limit = _MESSAGES if "/messages" in route or "/webhooks" in route else _OTHERS
        name = hashlib.sha256(f"{request.method} {route}".encode()).hexdigest()[:16]
        key = (name, *(request.match_info.get(part, "") for part in _MAJOR))
        now_s = time.monotonic()
        bucket = self._buckets.get(key)
        if bucket is None or bucket.ends_s <= now_s:
            bucket = self._buckets[key] = _Bucket(limit, now_s + self.window_s)
        allowed = bucket.left > 0
        bucket.left -= allowed
        after_s = math.ceil((bucket.ends_s - now_s) * 1000) / 1000
        return allowed, {
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(bucket.left),
            "X-RateLimit-Reset": f"{time.time() + after_s:.3f}",
            "X-RateLimit-Reset-After": f"{after_s:.3f}",
            "X-RateLimit-Bucket": name,
        }
