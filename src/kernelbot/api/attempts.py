"""How often one address may try to log in, since each try leaves something in the database."""

import time
from collections import Counter

from fastapi import Request

from kernelbot.domain.errors import TooManyRequests

_TRIES, _WITHIN_S = 300, 60.0
"""Enough for a class behind one address, whose people all log in within a minute."""


class Attempts:
    """Counts the tries of each address, in one minute after another. For one process."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._tries: Counter[str] = Counter()

    def count(self, address: str) -> None:
        """One more try. Raises `TooManyRequests`."""
        now = time.monotonic()
        if now - self._began >= _WITHIN_S:
            self._began = now
            self._tries.clear()
        self._tries[address] += 1
        if self._tries[address] > _TRIES:
            raise TooManyRequests(
                f"There were more than {_TRIES} logins within a minute from your address.",
                retry_after_s=self._began + _WITHIN_S - now,
            )


async def counted(request: Request) -> None:
    """Count the request as a try of the address that it is from. Raises `TooManyRequests`."""
    attempts = request.app.state.attempts
    assert isinstance(attempts, Attempts)
    attempts.count(request.client.host if request.client else "")
