"""How often one address may try to log in."""

import contextlib

import pytest
from fastapi import FastAPI, Request

from kernelbot.api import attempts as module
from kernelbot.api.attempts import Attempts, counted
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


def asking(host: str) -> Request:
    """A request from this address."""
    app = FastAPI()
    app.state.attempts = Attempts(most=1)
    scope = {"type": "http", "app": app, "client": (host, 1), "headers": []}
    return Request(scope)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "a name", False),
    ],
)
async def test_a_network_of_ipv6_is_one_address(first: str, second: str, same: bool) -> None:
    request = asking(first)
    await counted(request)
    request.scope["client"] = (second, 1)
    with pytest.raises(TooManyRequests) if same else contextlib.nullcontext():
        await counted(request)
