"""How often one address may try to log in."""

import pytest

from kernelbot.api import attempts as module
from kernelbot.api.attempts import Attempts
from kernelbot.domain.errors import TooManyRequests


def tries(attempts: Attempts, address: str, count: int) -> None:
    for _ in range(count):
        attempts.count(address)


def test_an_address_that_tries_too_often_is_told_when_to_come_back() -> None:
    attempts = Attempts()
    tries(attempts, "192.0.2.1", 300)
    with pytest.raises(TooManyRequests) as refused:
        attempts.count("192.0.2.1")
    assert 0 < refused.value.retry_after_s <= 60


def test_other_addresses_are_counted_by_themselves() -> None:
    attempts = Attempts()
    for address in ("192.0.2.1", "192.0.2.2", "2001:db8::1", ""):
        tries(attempts, address, 300)


def test_the_next_minute_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WITHIN_S", 0.0)
    tries(Attempts(), "192.0.2.1", 900)
