"""Requests without httpx: what is sent is what httpx sends, and what goes wrong is said alike."""

import gzip
import io
import re
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest

from kernelbot.client import AsyncKernelbotClient, BadAnswer, KernelbotClient, Unreachable
from kernelbot.client.bodies import body_of
from kernelbot.client.direct import Direct, can_be_direct
from kernelbot.client.over_httpx import OverHttpx
from kernelbot.client.tokens import OwnToken
from kernelbot.domain.errors import UserError
from tests.client.spoken import END, Handle, answer, event

BOARDS = b'{"boards": []}'


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("url", "direct"),
    [
        ("http://127.0.0.1:8000", True),
        ("https://kernels.lab/at/home", True),
        ("http://[::1]:8000", True),
        ("http://ada:secret@kernels.lab", False),
        ("http://kérnels.lab", False),
        ("http://kernels.lab:0", False),
        ("http://kernels.lab:99999", False),
        ("http://[::1", False),
        ("http://kernels lab", False),
        ("ftp://kernels.lab", False),
    ],
)
def test_what_httpx_is_needed_for(url: str, direct: bool) -> None:
    assert direct == can_be_direct(url)


@pytest.mark.parametrize("name", ["http_proxy", "HTTPS_PROXY", "ALL_PROXY"])
def test_whoever_names_a_proxy_is_served_by_httpx(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert not can_be_direct("http://kernels.lab")
    monkeypatch.setenv(name, "")
    assert can_be_direct("http://kernels.lab")


def test_a_proxy_is_asked_for_another_host(
    serve: Callable[[Handle], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    def proxy(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        answer(handler, 200, BOARDS)

    monkeypatch.setenv("http_proxy", serve(proxy))
    with KernelbotClient("http://kernels.example") as client:
        assert [] == client.boards().boards
    assert ["http://kernels.example/api/v1/boards"] == asked


NOWHERE = "http://127.0.0.1:9"
"""As a proxy it is one that nobody runs."""


@pytest.mark.parametrize("kind", [Direct, OverHttpx])
def test_no_proxy_is_asked_for_this_machine(
    kind: type[Direct | OverHttpx],
    serve: Callable[[Handle], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", NOWHERE)
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    url = serve(lambda handler: answer(handler, 200, BOARDS))
    assert can_be_direct(url)
    further = () if kind is Direct else (None,)
    client = kind(url, OwnToken(None), 60.0, *further)
    assert BOARDS == client.request("GET", "/api/v1/boards").content
    client.close()


async def test_no_proxy_is_awaited_for_this_machine(
    serve: Callable[[Handle], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", NOWHERE)
    async with AsyncKernelbotClient(serve(lambda handler: answer(handler, 200, BOARDS))) as client:
        assert [] == (await client.boards()).boards


FORMS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"mode": "test", "device": ["CPU", "H100"], "late": True},
        {"file": ("a.py", b"x\r\n--", "application/octet-stream")},
    ),
    ({}, {"file": ('"ü\\\n\x1b.py', b"", "text/plain")}),
]


@pytest.mark.parametrize(("fields", "files"), FORMS, ids=range(len(FORMS)))
def test_forms_are_those_of_httpx(fields: dict[str, Any], files: dict[str, Any]) -> None:
    body = body_of(None, fields, files)
    assert body is not None
    boundary = body.headers["Content-Type"].partition("boundary=")[2]
    theirs = httpx.Request(
        "POST",
        "http://x",
        data=fields,
        files=files,
        headers={"Content-Type": f"multipart/form-data; boundary={boundary}"},
    )
    sent = b"".join(body.pieces())
    assert (theirs.read(), theirs.headers["Content-Length"]) == (
        sent,
        body.headers["Content-Length"],
    )
    assert sent == b"".join(body.pieces())  # a request may be sent once more


def test_a_file_of_any_size_is_sent_in_pieces() -> None:
    content = b"0123456789" * 20_000
    body = body_of(None, {}, {"file": ("a.zip", io.BytesIO(content), "application/zip")})
    assert body is not None
    pieces = [*body.pieces()]
    assert content in b"".join(pieces)
    assert max(map(len, pieces)) < len(content)
    assert str(sum(map(len, pieces))) == body.headers["Content-Length"]


@pytest.mark.parametrize("value", [{"a": "ü", "b": [1, None, True, 2.5]}, [], 0, False])
def test_json_is_that_of_httpx(value: Any) -> None:
    body = body_of(value, None, None)
    assert body is not None
    theirs = httpx.Request("POST", "http://x", json=value)
    assert (theirs.read(), theirs.headers["Content-Type"]) == (
        b"".join(body.pieces()),
        body.headers["Content-Type"],
    )


@pytest.mark.parametrize(
    "params", [{}, {"q": "a b&c=ü/+%", "n": 3, "yes": True, "many": ["a", "b"]}]
)
def test_queries_mean_what_those_of_httpx_mean(
    serve: Callable[[Handle], str], params: dict[str, Any]
) -> None:
    asked = list[str]()

    def handle(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        answer(handler, 200, b"")

    url = serve(handle) + "/at/home"
    for kind in (Direct(url, OwnToken(None), 60.0), OverHttpx(url, OwnToken(None), 60.0, None)):
        kind.request("GET", "/x", params=params)
        kind.close()
    ours, theirs = (httpx.URL(f"http://x{path}") for path in asked)
    assert (theirs.path, theirs.params) == (ours.path, ours.params)


def packed(content: bytes) -> Handle:
    def handle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return handle


def test_a_packed_answer_is_unpacked(serve: Callable[[Handle], str]) -> None:
    with KernelbotClient(serve(packed(gzip.compress(BOARDS)))) as client:
        assert [] == client.boards().boards


def test_packed_events_are_unpacked(serve: Callable[[Handle], str]) -> None:
    with KernelbotClient(serve(packed(gzip.compress(event(1) + END)))) as client:
        assert [1] == [one.id for one in client.events(7)]


def test_an_answer_that_is_not_packed_as_it_says(serve: Callable[[Handle], str]) -> None:
    with KernelbotClient(serve(packed(b"not that"))) as client:
        with pytest.raises(BadAnswer, match="can't be unpacked"):
            client.boards()
        with pytest.raises(BadAnswer, match="can't be unpacked"):
            next(client.events(7, patience_s=0.0))


def cut_short(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(BOARDS)


def another_protocol(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")


def silent(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


@pytest.mark.parametrize(
    ("handle", "why"),
    [
        (cut_short, "the answer ended before it was complete"),
        (another_protocol, "doesn't speak HTTP: SSH-2.0"),
        (silent, "Server disconnected without sending a response"),
    ],
    ids=["cut short", "another protocol", "silent"],
)
def test_what_is_no_answer_says_so(
    serve: Callable[[Handle], str], handle: Handle, why: str
) -> None:
    with KernelbotClient(serve(handle)) as client, pytest.raises(Unreachable, match=re.escape(why)):
        client.boards()


def test_a_server_that_does_not_answer_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            KernelbotClient(url, timeout_s=0.05) as client,  # nothing ever answers there
            pytest.raises(Unreachable, match="timed out"),
        ):
            client.boards()


def test_one_connection_has_several_requests_until_the_server_ends_it() -> None:
    connections, stopped = list[int](), threading.Event()

    def serve_two_each(listener: socket.socket) -> None:
        while not stopped.is_set():
            found, _ = listener.accept()
            connections.append(0)
            with found, found.makefile("rb") as lines:
                while connections[-1] < 2 and lines.readline():
                    while lines.readline() != b"\r\n":
                        pass
                    connections[-1] += 1
                    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(BOARDS)}\r\n\r\n"
                    found.sendall(head.encode() + BOARDS)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve_two_each, args=(listener,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with KernelbotClient(url) as client:
            assert isinstance(client._http, Direct)
            for _ in range(3):
                assert [] == client.boards().boards
                if connections[-1] == 2:  # wait for the end that the server sends
                    found = client._http._connection.sock
                    assert found is not None
                    assert b"" == found.recv(1, socket.MSG_PEEK)
            stopped.set()
    assert [2, 1] == connections


def test_a_name_that_is_no_unicode_cannot_be_sent(serve: Callable[[Handle], str]) -> None:
    url = serve(lambda handler: answer(handler, 200, BOARDS))
    with KernelbotClient(url) as client, pytest.raises(UserError, match="isn't text in UTF-8"):
        client.submissions(board="\udcff")


def test_of_a_long_text_that_is_no_unicode_only_the_place_is_shown(
    serve: Callable[[Handle], str],
) -> None:
    url = serve(lambda handler: answer(handler, 200, BOARDS))
    with KernelbotClient(url) as client, pytest.raises(UserError) as caught:
        client.submissions(board="a" * 1000 + "\udcff" + "b" * 1000)
    assert f"'{'a' * 40}\\udcff{'b' * 40}' isn't text in UTF-8." == str(caught.value)


def test_a_file_that_changes_while_it_is_sent_is_sent_as_long_as_was_said() -> None:
    file = io.BytesIO(b"first")
    body = body_of(None, {}, {"archive": ("a.zip", file, "application/zip")})
    assert body is not None
    file.seek(0, io.SEEK_END)
    file.write(b", and more")
    sent = b"".join(body.pieces())
    assert (int(body.headers["Content-Length"]), True) == (len(sent), b"first\r\n" in sent)
    file.truncate(3)
    with pytest.raises(UserError, match="became shorter"):
        list(body.pieces())


def test_no_httpx_is_loaded_for_a_server_without_a_proxy(serve: Callable[[Handle], str]) -> None:
    import subprocess

    url = serve(lambda handler: answer(handler, 200, BOARDS))
    program = (
        "import sys; from kernelbot.client import KernelbotClient\n"
        f"with KernelbotClient({url!r}) as client: client.boards()\n"
        "print({'httpx', 'pydantic', 'asyncio'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ("set()\n", "") == (done.stdout, done.stderr)
