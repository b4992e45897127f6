"""Which token pays for the next request, and when."""

import email.utils
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.rest.client import Answer

_REFUSED_FOR_S = 60.0
_LIMITED_FOR_S = 60.0
"""If a scheduler limits requests and doesn't say for how long."""


@dataclass(frozen=True)
class Dialect:
    """How a scheduler speaks of tokens and limits."""

    name: str
    """Of the scheduler, for people."""
    variable: str
    """Where its token comes from."""
    remaining: str
    """The header that says how many requests are left until the limit is counted anew."""
    limit: str
    reset: str
    """The header that says when that is."""
    reset_is_a_date: bool
    """It says seconds since 1970, by the scheduler's clock; else seconds from now."""
    longest_s: float
    """No limit lasts longer."""
    reserve: int
    """Requests that a token keeps while another has more: for those that are under way."""


class Token:
    """One, and what its scheduler lets it do. Times are those of the clock given to `Tokens`."""

    def __init__(self, value: str) -> None:
        self._value = value
        self.left: float = math.inf
        """Requests until `ends_at`."""
        self.limit: float = math.inf
        self.ends_at = -math.inf
        self.blocked_until = -math.inf
        self.refused_until = -math.inf

    def headers(self) -> dict[str, str]:
        """Of a request."""
        return {"Authorization": f"Bearer {self._value}"}

    def wait_s(self, now: float) -> float:
        """Seconds until it may be used; 0: at once."""
        if self.ends_at <= now:
            self.left = math.inf
        used_up_until = self.ends_at if self.left <= 0 else now
        return max(self.blocked_until, used_up_until, now) - now


class Tokens:
    """All of a scheduler's. Nothing here shows one."""

    def __init__(
        self,
        values: Sequence[str],
        dialect: Dialect,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tokens = [Token(value) for value in values]
        self._dialect = dialect
        self._clock = clock

    def __len__(self) -> int:
        return len(self._tokens)

    def wait_s(self) -> float:
        """Seconds until any may be used. Raises `PlatformError` if none is accepted."""
        now = self._clock()
        return min(token.wait_s(now) for token in self._accepted(now))

    def best(self) -> Token:
        """The first with requests to spare, or else the one with most. Raises `PlatformError` if
        none is accepted."""
        now = self._clock()
        accepted = self._accepted(now)
        usable = [token for token in accepted if token.wait_s(now) <= 0] or accepted
        spare = (token for token in usable if token.left > self._dialect.reserve)
        return next(spare, max(usable, key=lambda token: token.left))

    def _accepted(self, now: float) -> list[Token]:
        found = [token for token in self._tokens if token.refused_until <= now]
        if not found:
            raise PlatformError(
                f"{self._dialect.name} doesn't accept our token: set a valid "
                f"{self._dialect.variable} and start again."
            )
        return found

    def note_limit(self, token: Token, answer: Answer) -> None:
        """What an answer's headers say of the limit; by the scheduler's clock alone, as ours may
        be wrong."""
        left = _number(answer, self._dialect.remaining)
        reset = _number(answer, self._dialect.reset)
        if left is None or reset is None:
            return
        if self._dialect.reset_is_a_date:
            reset -= _their_time(answer)
        token.left = left
        token.limit = _number(answer, self._dialect.limit) or math.inf
        token.ends_at = self._clock() + min(max(reset, 0.0), self._dialect.longest_s)

    def refused(self, token: Token) -> None:
        """It isn't accepted; it is tried again after a while."""
        token.refused_until = self._clock() + _REFUSED_FOR_S

    def limited(self, token: Token, answer: Answer) -> bool:
        """Whether the answer is no more than a limit met: then the token pauses."""
        if answer.status not in (403, 429):
            return False
        used_up = _number(answer, self._dialect.remaining) == 0
        after_s = _number(answer, "retry-after")
        if after_s is None and used_up and token.left == 0:
            return True  # until it is counted anew, as was learnt
        said = answer.status == 429 or used_up or b"rate limit" in answer.content.lower()
        if after_s is None and not said:
            return False
        for_s = _LIMITED_FOR_S if after_s is None else after_s
        token.blocked_until = self._clock() + min(max(for_s, 1.0), self._dialect.longest_s)
        return True

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
    """Seconds since 1970 by the scheduler's clock."""
    try:
        return email.utils.parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return time.time()
