"""How often one address may try to log in, since each try leaves something in the database, and how
often it may be wrong, so that nobody tries tokens out."""

import time
from collections import Counter
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Self

import structlog
from fastapi import Request
from prometheus_client import Counter as CounterMetric

from kernelbot.domain.errors import NotAuthenticated, TooManyRequests

log = structlog.get_logger(__name__)

_TRIES, _WITHIN_S = 300, 60.0
"""Enough for a class behind one address, whose people all log in within a minute."""


class Attempts:
    """Counts the tries of each address, in one minute after another. For one process."""

    def __init__(self, most: int = _TRIES, what: str = "logins") -> None:
        self._most, self._what = most, what
        self._began = time.monotonic()
        self._tries: Counter[str] = Counter()

    def count(self, address: str) -> None:
        """Count a try. Raises `TooManyRequests`."""
        self._forget()
        self._tries[address] += 1
        self.check(address)

    def check(self, address: str) -> None:
        """Raises `TooManyRequests` if the address has tried too often."""
        self._forget()
        if self._tries[address] > self._most:
            raise TooManyRequests(
                f"More than {self._most} {self._what} came from your address within a minute.",
                retry_after_s=max(0.0, self._began + _WITHIN_S - time.monotonic()),
            )

    def _forget(self) -> None:
        now = time.monotonic()
        if now - self._began >= _WITHIN_S:
            self._began = now
            self._tries.clear()


@dataclass(frozen=True)
class Failures:
    """Wrong tokens: of each address, and in all."""

    metric: CounterMetric
    attempts: Attempts

    @classmethod
    def up_to(cls, most: int, metric: CounterMetric) -> Self:
        """None yet, of so many within a minute that one address may send."""
        return cls(metric, Attempts(most, "wrong tokens"))

    def check(self, request: Request) -> None:
        """Raises `TooManyRequests` if the request's address has sent too many wrong tokens."""
        self.attempts.check(_address(request))

    def note(self, request: Request, error: NotAuthenticated) -> Exception:
        """Count and log one more wrong token; what to answer: `error`, or `TooManyRequests`."""
        address = _address(request)
        self.metric.inc()
        log.warning("authentication_failed", address=address)
        try:
            self.attempts.count(address)
        except TooManyRequests as too_many:
            return too_many
        return error


def failures_metric() -> CounterMetric:
    """How many wrong tokens were sent, in no registry as yet."""
    return CounterMetric(
        "kernelbot_failed_authentications", "Wrong tokens that were sent.", registry=None
    )


def failures_of(request: Request) -> Failures:
    """The application's count of wrong tokens."""
    found = request.app.state.failures
    assert isinstance(found, Failures)
    return found


async def counted(request: Request) -> None:
    """Count the request as a try of the address that it is from. Raises `TooManyRequests`."""
    attempts = request.app.state.attempts
    assert isinstance(attempts, Attempts)
    attempts.count(_address(request))


def _address(request: Request) -> str:
    """Whose attempts are counted together. With IPv6 that is a network: whoever has one address
    there has 2 to the 64."""
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(IPv6Network((int(address) >> 64 << 64, 64)))
    return host
