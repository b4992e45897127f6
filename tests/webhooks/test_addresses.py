"""Where webhooks may be: nowhere that only this server reaches."""

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.webhooks.addresses import checked_url, public_address
from kernelbot.webhooks.model import WebhookRules
from tests.support.virtual_time import run_virtually

OUTSIDE = WebhookRules()
LOOKUPS = ThreadPoolExecutor(4)
PRIVATE = (
    "127.0.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fd00::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[64:ff9b:1::7f00:1]",
    "[fec0::1]",
    "168.63.129.16",
    "192.0.0.192",
    "[::ffff:168.63.129.16]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[5f00::1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",  # Teredo of 127.0.0.1
    "a.localhost",
    "localhost",
    "printer.local",
    "metadata.google.internal",
)


@pytest.mark.parametrize("host", PRIVATE)
def test_a_private_address_is_refused(host: str) -> None:
    with pytest.raises(UserError, match="private network"):
        checked_url(f"https://{host}/hook", OUTSIDE)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "//example.org/",
        "https://",
        "https:///hook",
        "https://user:secret@example.org/",
        "https://example.org:99999/",
        "https://[::1/",
        "https://exa mple.org/",
        "https://example.org/\r\nHost: other",
        "https://example.org/\x00",
        "https://exämple.org/",
        "https://example.org/" + "x" * 1981,
        "",
    ],
)
def test_what_is_no_address_of_the_web_is_refused(url: str) -> None:
    with pytest.raises(UserError):
        checked_url(url, OUTSIDE)


@pytest.mark.parametrize(
    "url",
    [
        "https://8.8.8.8:443/a?b",
        "https://example.org:80/",
        "https://example.org/" + "x" * 1980,
        "https://localhost.example.org/",
        "https://[2606:4700::1111]/",
        "https://[::ffff:8.8.8.8]/",
        "https://[2002:808:808::]/",
        "https://[64:ff9b::808:808]/",
        "https://[2001:0:4136:e378:8000:63bf:f7f7:f7f7]/",
    ],
)
def test_an_address_of_the_web_is_kept_without_the_space_around_it(url: str) -> None:
    assert url == checked_url(f" {url}\n", OUTSIDE)


def test_another_port_needs_a_setting() -> None:
    with pytest.raises(UserError, match="port 22"):
        checked_url("https://8.8.8.8:22/", OUTSIDE)
    allowed = checked_url("https://8.8.8.8:8443/", WebhookRules(ports=(8443,)))
    assert "https://8.8.8.8:8443/" == allowed


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f000001", "::1"])
async def test_a_name_that_leads_inside_is_refused_when_it_is_called(host: str) -> None:
    with pytest.raises((UserError, OSError)):
        await public_address(host, OUTSIDE, LOOKUPS)


async def test_an_address_of_the_web_is_called() -> None:
    assert "8.8.8.8" == await public_address("8.8.8.8", OUTSIDE, LOOKUPS)


def test_a_name_that_nobody_looks_up_is_given_up_after_five_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def waited_s() -> float:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "run_in_executor", lambda *_: asyncio.sleep(3600))
        with pytest.raises(TimeoutError):
            await public_address("example.org", OUTSIDE, LOOKUPS)
        return loop.time()

    assert 5.0 == round(run_virtually(monkeypatch, waited_s), 3)


async def test_names_that_nobody_answers_for_take_no_thread_from_all_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(1))
    began, given_up = asyncio.Event(), threading.Event()

    def nobody_answers(*_: object, **__: object) -> list[object]:
        loop.call_soon_threadsafe(began.set)
        given_up.wait(600)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", nobody_answers)
    looking = asyncio.ensure_future(public_address("example.org", OUTSIDE, LOOKUPS))
    try:
        async with asyncio.timeout(60):
            await began.wait()
            assert 7 == await asyncio.to_thread(int, "7")
    finally:
        given_up.set()
        with pytest.raises((OSError, TimeoutError)):
            await looking


async def test_an_operator_may_allow_private_addresses() -> None:
    rules = WebhookRules(private_addresses=True)
    assert "http://127.0.0.1/" == checked_url("http://127.0.0.1/", rules)
    assert "127.0.0.1" == await public_address("127.0.0.1", rules, LOOKUPS)
