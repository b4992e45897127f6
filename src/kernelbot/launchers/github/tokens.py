"""Which token pays for the next request."""

import email.utils
import math
import time
from collections.abc import Callable, Sequence

from kernelbot.domain.errors import PlatformError, SchedulerError
from kernelbot.launchers.http import Answer

_RESERVE = 100
"""Requests that a token keeps while another has more: for those that are under way."""
_REFUSED_FOR_S = 60.0
_SECONDARY_S = 60.0
"""GitHub's advice if it limits requests and doesn't say for how long."""
_LONGEST_S = 3700.0
"""Limits are counted by the hour."""


class Token:
    """One, and what GitHub lets it do. Times are those of the clock given to `Tokens`."""

    def __init__(self, value: str) -> None:
        self._value = value
        self.left: float = math.inf
        """Requests until `ends_at`."""
        self.limit: float = math.inf
        self.ends_at = -math.inf
        """When the hour ends that is counted now."""
        self.blocked_until = -math.inf
        self.refused_until = -math.inf

    def headers(self) -> dict[str, str]:
        """Of a request."""
        return {"Authorization": f"Bearer {self._value}"}


class Tokens:
    """All of them. Nothing here shows a token."""

    def __init__(self, values: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = [Token(value) for value in values]
        self._clock = clock

    def __len__(self) -> int:
        return len(self._tokens)

    def best(self) -> Token:
        """The first with requests to spare, or else the one with most. Raises `SchedulerError` if
        all limits are used up, `PlatformError` if GitHub accepts none of the tokens."""
        now = self._clock()
        accepted = [token for token in self._tokens if token.refused_until <= now]
        if not accepted:
            raise PlatformError(
                "GitHub doesn't accept our token: set a valid GITHUB_TOKEN and start again."
            )
        for token in accepted:
            if token.ends_at <= now:
                token.left = math.inf
        usable = [token for token in accepted if token.blocked_until <= now and token.left > 0]
        if not usable:
            ends = [max(t.blocked_until, t.ends_at if t.left <= 0 else now) for t in accepted]
            raise SchedulerError(
                f"GitHub's rate limit is used up for {max(min(ends) - now, 1):.0f} s."
            )
        spare = (token for token in usable if token.left > _RESERVE)
        return next(spare, max(usable, key=lambda token: token.left))

    def learn(self, token: Token, answer: Answer) -> None:
        """What an answer's headers say of the limit; by GitHub's clock alone, ours may be wrong."""
        left = _number(answer, "x-ratelimit-remaining")
        reset = _number(answer, "x-ratelimit-reset")
        if left is None or reset is None:
            return
        token.left = left
        token.limit = _number(answer, "x-ratelimit-limit") or math.inf
        wait_s = min(max(reset - _their_time(answer), 0.0), _LONGEST_S)
        token.ends_at = self._clock() + wait_s

    def refused(self, token: Token) -> None:
        """GitHub didn't accept it; it is tried again after a while."""
        token.refused_until = self._clock() + _REFUSED_FOR_S

    def limited(self, token: Token, answer: Answer) -> bool:
        """Whether the answer is no more than a limit met: then the token pauses."""
        if answer.status not in (403, 429):
            return False
        after_s = _number(answer, "retry-after")
        if after_s is not None:
            token.blocked_until = self._clock() + min(max(after_s, 1.0), _LONGEST_S)
            return True
        used_up = _number(answer, "x-ratelimit-remaining") == 0
        if used_up and token.left == 0:
            return True  # until the hour ends, as was learnt
        if used_up or answer.status == 429 or b"rate limit" in answer.content.lower():
            token.blocked_until = self._clock() + _SECONDARY_S
            return True
        return False

    def pause_s(self) -> float:
        """What one request must be followed by so that the limits last; 0 while there is plenty."""
        now = self._clock()
        counted = [t for t in self._tokens if t.refused_until <= now and t.ends_at > now]
        if len(counted) < len(self._tokens) or any(t.left > t.limit / 2 for t in counted):
            return 0.0
        left = max(sum(token.left for token in counted), 1.0)
        return max(token.ends_at - now for token in counted) / left


def _number(answer: Answer, name: str) -> float | None:
    text = answer.headers.get(name, "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _their_time(answer: Answer) -> float:
    """Seconds since 1970 by GitHub's clock."""
    try:
        return email.utils.parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return time.time()
