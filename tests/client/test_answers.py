"""What answers in place of a server, as proxies do: no command may take that for an answer."""

import asyncio
import socket
import struct
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from kernelbot.client import AsyncKernelbotClient, BadAnswer, KernelbotClient, Refused, Unreachable
from kernelbot.domain.errors import UserError
from tests.client.spoken import Handle, answer

PAGE = b"<html><body>Please log in</body></html>"
SENT_ON = "302 Found: https://login.example/"


def log_in_first(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "Text/HTML; charset=utf-8")
    handler.send_header("Content-Length", str(len(PAGE)))
    handler.end_headers()
    handler.wfile.write(PAGE)


def elsewhere(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", "https://login.example/")
    handler.send_header("Content-Length", str(len(PAGE)))
    handler.end_headers()
    handler.wfile.write(PAGE)


IN_PLACE_OF_A_SERVER = [
    (log_in_first, BadAnswer, "A page for browsers"),
    (elsewhere, Refused, SENT_ON),
]
REPLACED = pytest.mark.parametrize(("handle", "error", "said"), IN_PLACE_OF_A_SERVER)


@REPLACED
def test_what_a_proxy_answers_is_written_to_no_file(
    serve: Callable[[Handle], str],
    handle: Handle,
    error: type[Exception],
    said: str,
    tmp_path: Path,
) -> None:
    file = tmp_path / "autumn.csv"
    file.write_text("kept")
    url = serve(handle)

    async def awaited() -> None:
        async with AsyncKernelbotClient(url) as client:
            await client.organise.export((), file)

    with KernelbotClient(url) as client, pytest.raises(error, match=said):
        client.organise.export((), file)
    with pytest.raises(error, match=said):
        asyncio.run(awaited())
    assert ["kept"] == [one.read_text() for one in tmp_path.iterdir()]


@REPLACED
def test_what_a_proxy_answers_is_no_text(
    serve: Callable[[Handle], str], handle: Handle, error: type[Exception], said: str
) -> None:
    with KernelbotClient(serve(handle)) as client, pytest.raises(error, match=said):
        client.standings_csv("sort")


@REPLACED
def test_what_a_proxy_answers_is_no_stream_without_events(
    serve: Callable[[Handle], str], handle: Handle, error: type[Exception], said: str
) -> None:
    url = serve(handle)

    async def awaited() -> None:
        async with AsyncKernelbotClient(url) as client:
            await anext(aiter(client.events(7)))

    with KernelbotClient(url) as client, pytest.raises(error, match=said):
        next(client.events(7))
    with pytest.raises(error, match=said):
        asyncio.run(awaited())


def test_a_server_that_is_elsewhere_now_is_asked_for_there(serve: Callable[[Handle], str]) -> None:
    with KernelbotClient(serve(elsewhere)) as client, pytest.raises(Refused) as caught:
        client.boards()
    expected = (
        f"The server answered {SENT_ON}",
        "Is the server's address another one, with https perhaps?",
    )
    assert expected == (str(caught.value), caught.value.hint)


def test_an_error_of_a_proxy_s_own_asks_about_it(serve: Callable[[Handle], str]) -> None:
    url = serve(lambda handler: answer(handler, 413, PAGE))
    with KernelbotClient(url) as client, pytest.raises(Refused) as caught:
        client.boards()
    expected = ("Request Entity Too Large.", "Is it a KernelBot server? A proxy before it may be")
    assert expected[0] in str(caught.value)
    assert caught.value.hint.startswith(expected[1])


def test_a_connection_that_breaks_is_no_fault_of_the_file(
    serve: Callable[[Handle], str], tmp_path: Path
) -> None:
    def breaks(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"a")
        at_once = struct.pack("ii", 1, 0)  # closed so, the other side is told of a reset
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        handler.connection.close()

    with KernelbotClient(serve(breaks)) as client, pytest.raises(Unreachable, match="reset"):
        client.organise.export((), tmp_path / "autumn.csv")
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a" * 248 + ".csv", "missing/a.csv"])
def test_a_file_that_cannot_be_written_is(
    serve: Callable[[Handle], str], tmp_path: Path, name: str
) -> None:
    url = serve(lambda handler: answer(handler, 200, b"a"))
    with KernelbotClient(url) as client, pytest.raises(UserError, match=r"can't be written: \w+"):
        client.organise.export((), tmp_path / name)
