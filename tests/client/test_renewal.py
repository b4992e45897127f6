"""A server of this account that is started again while a client talks to it."""

import asyncio
import json
import os
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs
import pytest

from kernelbot.client import AsyncKernelbotClient, Endpoint, KernelbotClient, Refused, find_endpoint
from tests.client.spoken import END, Handle, answer, event

NO = b'{"detail": "No.", "code": "not_authenticated"}'
BOARDS = b'{"boards": [], "next": null}'


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account that has no other tokens."""
    for name in ("KERNELBOT_TOKEN", "KERNELBOT_URL", "POPCORN_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def leave(url: str, token: str) -> Endpoint:
    """What a server leaves as it starts, and what a client then finds."""
    folder = platformdirs.user_state_path("kernelbot") / "servers"
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"url": url, "token": token, "pid": os.getpid()})
    (folder / f"{urlsplit(url).port}.json").write_text(text)
    return find_endpoint()


def knowing(token: str, body: bytes, asked: list[str | None]) -> Handle:
    """A server for which one token is valid."""

    def handle(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.headers["Authorization"])
        known = asked[-1] == f"Bearer {token}"
        answer(handler, *((200, body) if known else (401, NO)))

    return handle


def test_the_token_of_a_server_that_started_again_is_found(serve: Callable[[Handle], str]) -> None:
    asked: list[str | None] = []
    url = serve(knowing("second", BOARDS, asked))
    with KernelbotClient.to(leave(url, "first")) as client:
        leave(url, "second")
        found = [client.boards().boards for _ in range(2)]
    assert [[], []] == found
    assert ["Bearer first", "Bearer second", "Bearer second"] == asked


async def test_events_go_on_after_a_server_started_again(serve: Callable[[Handle], str]) -> None:
    asked: list[str | None] = []
    url = serve(knowing("second", event(1) + END, asked))
    async with AsyncKernelbotClient.to(leave(url, "first")) as client:
        leave(url, "second")
        found = [one.id async for one in client.events(7)]
    assert ([1], ["Bearer first", "Bearer second"]) == (found, asked)


async def test_requests_that_are_under_way_together_are_all_renewed(
    serve: Callable[[Handle], str],
) -> None:
    """Also those whose refusal comes after another's."""
    both = threading.Barrier(2, timeout=60)

    def handle(handler: BaseHTTPRequestHandler) -> None:
        if handler.headers["Authorization"] == "Bearer second":
            return answer(handler, 200, BOARDS)
        both.wait()  # until the other one is under way as well
        return answer(handler, 401, NO)

    url = serve(handle)
    async with AsyncKernelbotClient.to(leave(url, "first")) as client:
        leave(url, "second")
        found = await asyncio.gather(client.boards(), client.boards())
    assert [[], []] == [one.boards for one in found]


def test_a_server_that_did_not_start_again_is_asked_once(serve: Callable[[Handle], str]) -> None:
    asked: list[str | None] = []
    url = serve(knowing("second", BOARDS, asked))
    with KernelbotClient.to(leave(url, "first")) as client, pytest.raises(Refused, match="No"):
        client.boards()
    assert ["Bearer first"] == asked


def test_a_new_token_that_is_refused_as_well_is_not_sent_for_ever(
    serve: Callable[[Handle], str],
) -> None:
    asked: list[str | None] = []
    url = serve(knowing("third", BOARDS, asked))
    with KernelbotClient.to(leave(url, "first")) as client:
        leave(url, "second")
        for _ in range(2):
            with pytest.raises(Refused, match="No"):
                client.boards()
    assert ["Bearer first", "Bearer second", "Bearer second"] == asked


def test_a_token_of_one_s_own_is_never_exchanged(
    serve: Callable[[Handle], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []
    url = serve(knowing("second", BOARDS, asked))
    monkeypatch.setenv("KERNELBOT_TOKEN", "mine")
    with KernelbotClient.to(leave(url, "second")) as client, pytest.raises(Refused, match="No"):
        client.boards()
    assert ["Bearer mine"] == asked
