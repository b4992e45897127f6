"""Which token pays for the next request, and when."""

import email.utils
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.rest.client import HttpAnswer

_REFUSED_FOR_S = 60.0
_LIMITED_FOR_S = 60.0
"""If a scheduler limits requests and doesn't say for how long; each time in a row twice as long."""
_ROUNDED_S = 1.0
"""Whole seconds may have been rounded down."""
_PLENTY = 0.5
"""Share of a limit: with more than that left, nothing is spared."""


@dataclass(frozen=True)
class LimitHeaders:
    """In which a scheduler tells of one of its limits."""

    remaining: str
    """How many requests are left until it is counted anew."""
    limit: str
    reset: str
    """When that is."""


@dataclass(frozen=True)
class Dialect:
    """How a scheduler speaks of tokens and limits."""

    name: str
    """The scheduler's name, for people."""
    variable: str
    """Where its token comes from."""
    limits: tuple[LimitHeaders, ...]
    """All of them hold at once."""
    reset_is_a_date: bool
    """It says seconds since 1970, by the scheduler's clock; else seconds from now."""
    longest_s: float
    """No limit lasts longer."""
    reserve: int
    """Requests that a token keeps while another has more: for those that are under way."""
    share: float = 1.0
    """Share of the requests that are left which asking about jobs may use: the others are for
    starting them and for fetching their results."""
    spreads: bool = False
    """Whether every request waits for its turn as soon as half of a limit is used, so that nobody
    waits for the end of it."""


class RateWindow:
    """One limit of a token: so many requests until it is counted anew."""

    def __init__(self) -> None:
        self.left: float = math.inf
        """`inf`: it isn't known yet."""
        self.limit: float = math.inf
        self.ends_at = -math.inf

    def renew(self, now: float, longest_s: float) -> None:
        """Counted anew, if it is time; an answer will say until when."""
        if self.ends_at <= now:
            self.left, self.ends_at = self.limit, now + longest_s

    @property
    def plenty(self) -> bool:
        """Whether nothing has to be spared."""
        return self.left == math.inf or self.left > self.limit * _PLENTY

    def pause_s(self, now: float) -> float:
        """What one request must be followed by so that those that are left last."""
        return 0.0 if self.plenty else (self.ends_at - now) / max(self.left, 1.0)


class SchedulerToken:
    """A token, and what its scheduler lets it do. Times are those of the clock given to
    `SchedulerTokens`."""

    def __init__(self, value: str, dialect: Dialect) -> None:
        self._value = value
        self._dialect = dialect
        self.windows = [RateWindow() for _ in dialect.limits]
        self.under_way = 0
        """Requests that the scheduler may not have counted yet."""
        self.sent_at = -math.inf
        self.blocked_until = -math.inf
        self.refused_until = -math.inf
        self.times_limited = 0
        """In a row, by answers that didn't say for how long."""

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._value}"}

    @property
    def left(self) -> float:
        """Requests that may be made before a limit is met."""
        return min(window.left for window in self.windows)

    def renew(self, now: float) -> None:
        """Forget limits that are over."""
        for window in self.windows:
            window.renew(now, self._dialect.longest_s)

    def spend(self, now: float) -> None:
        """A request is made."""
        self.under_way += 1
        self.sent_at = now
        for window in self.windows:
            window.left -= 1

    def used_up_s(self, now: float) -> float:
        """Seconds until it may be used at all; 0: it may."""
        used_up = [window.ends_at for window in self.windows if window.left <= 0]
        return max(self.blocked_until, now, *used_up) - now

    def wait_s(self, now: float) -> float:
        """Seconds until the next request's turn; 0: at once."""
        turn_at = self.sent_at + self.pause_s(now) if self._dialect.spreads else now
        return max(self.used_up_s(now), turn_at - now, 0.0)

    def pause_s(self, now: float) -> float:
        """The pause that the strictest limit asks for."""
        return max(window.pause_s(now) for window in self.windows)

    def spare(self) -> float:
        """Requests of which none has to wait for its turn."""
        return min(window.left - window.limit * _PLENTY if window.left < math.inf else math.inf
                   for window in self.windows)  # fmt: skip


class SchedulerTokens:
    """All tokens of a scheduler. Nothing here shows one."""

    def __init__(
        self,
        values: Sequence[str],
        dialect: Dialect,
        clock: Callable[[], float] = lambda: time.monotonic(),
    ) -> None:
        self._tokens = [SchedulerToken(value, dialect) for value in values]
        self._dialect = dialect
        self._clock = clock

    def __len__(self) -> int:
        return len(self._tokens)

    def wait_s(self) -> float:
        """Seconds until any may be used. Raises `PlatformError` if none is accepted."""
        now = self._clock()
        return min(token.wait_s(now) for token in self._accepted(now))

    def used_up_s(self) -> float:
        """Seconds for which no request may be made at all. Raises as `wait_s` does."""
        now = self._clock()
        return min(token.used_up_s(now) for token in self._accepted(now))

    def best(self) -> SchedulerToken:
        """The first with requests to spare, or else the one with most. Raises `PlatformError` if
        none is accepted."""
        now = self._clock()
        accepted = self._accepted(now)
        usable = [token for token in accepted if token.wait_s(now) <= 0] or accepted
        spare = (token for token in usable if token.left > self._dialect.reserve)
        return next(spare, max(usable, key=lambda token: token.left))

    def spend(self) -> SchedulerToken:
        """The token of the next request, which counts from now on; `answered` ends it."""
        token = self.best()
        token.spend(self._clock())
        return token

    def answered(self, token: SchedulerToken) -> None:
        """A request of the token's has an answer, or won't get one."""
        token.under_way -= 1

    def _accepted(self, now: float) -> list[SchedulerToken]:
        for token in self._tokens:
            token.renew(now)
        found = [token for token in self._tokens if token.refused_until <= now]
        if not found:
            raise PlatformError(
                f"{self._dialect.name} doesn't accept our token: set a valid "
                f"{self._dialect.variable} and start again."
            )
        return found

    def note_limit(self, token: SchedulerToken, answer: HttpAnswer) -> None:
        """What an answer's headers say of the limits; by the scheduler's clock alone, as ours may
        be wrong."""
        for window, headers in zip(token.windows, self._dialect.limits, strict=True):
            left = _number(answer, headers.remaining)
            reset = _number(answer, headers.reset)
            if left is None or reset is None:
                continue
            if self._dialect.reset_is_a_date:
                reset -= _their_time(answer)
            window.left = left - token.under_way
            most_seen = max(left, 0.0 if window.limit == math.inf else window.limit)
            window.limit = _number(answer, headers.limit) or most_seen
            in_s = min(max(reset, 0.0) + _ROUNDED_S, self._dialect.longest_s)
            window.ends_at = self._clock() + in_s

    def refused(self, token: SchedulerToken) -> None:
        """The scheduler doesn't accept the token; it is tried again after a while."""
        token.refused_until = self._clock() + _REFUSED_FOR_S

    def limited(self, token: SchedulerToken, answer: HttpAnswer) -> bool:
        """Whether the answer is no more than a limit met: then the token pauses."""
        if not self._is_limited(answer):
            token.times_limited = 0
            return False
        after_s = _number(answer, "retry-after")
        if after_s is None and self._says_used_up(answer) and token.left <= 0:
            return True  # until it is counted anew, as was learnt
        if after_s is None:
            after_s = _LIMITED_FOR_S * 2.0 ** min(token.times_limited, 16)
            token.times_limited += 1
        for_s = min(max(after_s, 1.0), self._dialect.longest_s)
        token.blocked_until = max(token.blocked_until, self._clock() + for_s)
        return True

    def _is_limited(self, answer: HttpAnswer) -> bool:
        if answer.status != 403:
            return answer.status == 429
        said = b"rate limit" in answer.content.lower()
        return said or "retry-after" in answer.headers or self._says_used_up(answer)

    def _says_used_up(self, answer: HttpAnswer) -> bool:
        return any(_number(answer, each.remaining) == 0 for each in self._dialect.limits)

    def pause_s(self) -> float:
        """What one question about jobs must be followed by so that the limits last; 0 while there
        is plenty."""
        now = self._clock()
        usable = [token for token in self._tokens if token.refused_until <= now]
        for token in usable:
            token.renew(now)
        pauses_s = [max(token.pause_s(now), token.used_up_s(now)) for token in usable]
        if not pauses_s or min(pauses_s) <= 0:
            return 0.0
        return 1 / sum(1 / pause_s for pause_s in pauses_s) / self._dialect.share

    def spare(self) -> float:
        """Requests of which none has to wait for its turn, however many there are."""
        if not self._dialect.spreads:
            return math.inf
        now = self._clock()
        for token in self._tokens:
            token.renew(now)
        return max(max(token.spare() for token in self._tokens), 0.0)


def _number(answer: HttpAnswer, name: str) -> float | None:
    text = answer.headers.get(name, "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _their_time(answer: HttpAnswer) -> float:
    """Seconds since 1970 by the scheduler's clock."""
    try:
        return email.utils.parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError, OverflowError):
        return time.time()
