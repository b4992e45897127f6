"""`deploy/proxy/nginx.conf`, tried with a real nginx before our own protocol."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
import yaml
from starlette.types import Receive, Scope, Send

from kernelbot.api.settings import ApiSettings
from kernelbot.server.connection_limits import ConnectionLimits
from kernelbot.server.connections import Connections

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
CONF = (DEPLOY / "proxy/nginx.conf").read_text()
MUCH = 48 << 20
PATIENT = ConnectionLimits(silence_s=600, unread_s=600)
needs_nginx = pytest.mark.skipif(
    shutil.which("nginx") is None or shutil.which("openssl") is None,
    reason="nginx or openssl isn't installed",
)


@dataclass
class Upstream:
    """What stands in for the platform's routes."""

    began: threading.Event = field(default_factory=threading.Event)
    """A body has begun to arrive."""
    go_on: threading.Event = field(default_factory=threading.Event)
    """Of event streams."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What was seen of the request; for some paths much, or an event stream."""
        if scope["path"] == "/events":
            await self._events(send)
            return
        if scope["method"] == "POST":
            await receive()
            self.began.set()
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        seen = {"client": scope["client"][0], "scheme": scope["scheme"], "headers": headers}
        body = b"x" * MUCH if scope["path"] == "/much" else json.dumps(seen).encode()
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": body})

    async def _events(self, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        while not self.go_on.is_set():  # noqa: ASYNC110  # set by another thread
            await asyncio.sleep(0.01)
        await send({"type": "http.response.body", "body": b"data: 2\n\n"})


@dataclass
class Proxied:
    """The proxy before a server. Its certificate is for its address."""

    address: str
    ports: dict[str, int]
    folder: Path
    upstream: Upstream
    server: uvicorn.Server

    @property
    def url(self) -> str:
        return f"https://{self.address}:{self.ports['443']}"

    @property
    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.folder / "tls/fullchain.pem"))

    @contextlib.contextmanager
    def client(self, address: str = "127.0.0.1") -> Iterator[httpx.Client]:
        """From that address."""
        transport = httpx.HTTPTransport(verify=self.tls, local_address=address)
        with httpx.Client(base_url=self.url, transport=transport, timeout=120) as client:
            yield client

    def socket(self) -> ssl.SSLSocket:
        """One that speaks by itself."""
        plain = socket.create_connection((self.address, self.ports["443"]), timeout=120)
        return self.tls.wrap_socket(plain, server_hostname=self.address)

    def said(self) -> str:
        return (self.folder / "stderr").read_text()


def until(condition: Callable[[], object]) -> None:
    """For a minute at most."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextlib.contextmanager
def proxied(
    limits: ConnectionLimits = PATIENT, changed: tuple[str, str] | None = None
) -> Iterator[Proxied]:
    """The configuration with other addresses and folders, and with what is `changed`."""
    upstream = Upstream()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelbot-proxy-")))
        server, port = stack.enter_context(_serving(upstream, limits))
        # One that nobody else has, so that a port stays free until nginx takes it.
        address = f"127.77.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
        ports = {name: _free_port(address) for name in ("80", "443")}
        found = Proxied(address, ports, folder, upstream, server)
        _make_certificate(folder / "tls", address)
        (folder / "nginx.conf").write_text(
            _configured(found, port, dict([changed] if changed else []))
        )
        stack.enter_context(_nginx(found))
        yield found


@contextlib.contextmanager
def _serving(upstream: Upstream, limits: ConnectionLimits) -> Iterator[tuple[uvicorn.Server, int]]:
    made: Any = Connections(limits)
    config = uvicorn.Config(
        upstream, http=made, log_config=None, lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(target=server.run, args=([listening],), name="upstream")
        thread.start()
        try:
            yield server, port
        finally:
            upstream.go_on.set()
            server.should_exit = True
            thread.join()


def _free_port(address: str) -> int:
    with socket.create_server((address, 0)) as found:
        port: int = found.getsockname()[1]
        return port


def _make_certificate(folder: Path, address: str) -> None:
    folder.mkdir()
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "1", "-subj", "/CN=proxy"]
    command += ["-addext", f"subjectAltName=IP:{address}"]
    command += ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run(command, check=True, capture_output=True)


def _configured(found: Proxied, port: int, changed: dict[str, str]) -> str:
    temporary = "".join(
        f"    {kind}_temp_path {found.folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    listens = {
        f"listen {name}": f"listen {found.address}:{port}" for name, port in found.ports.items()
    }
    replaced = {
        "user nginx;": "user root;" if os.geteuid() == 0 else "",
        "/run/nginx.pid": f"{found.folder}/pid",
        "/etc/nginx/tls": f"{found.folder}/tls",
        "/var/www/acme": str(found.folder),
        "server server:8000;": f"server 127.0.0.1:{port};",
        "http {\n": f"http {{\n{temporary}",
        **listens,
        **changed,
    }
    text = re.sub(r" +listen \[::\].*\n", "", CONF)
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def _nginx(found: Proxied) -> Iterator[None]:
    command = ["nginx", "-e", "stderr", "-c", str(found.folder / "nginx.conf")]
    with (found.folder / "stderr").open("w") as said:
        process = subprocess.Popen([*command, "-g", "daemon off;"], stderr=said)
        try:
            until(lambda: process.poll() is not None or _answers(found))
            assert process.poll() is None, found.said()
            yield
        finally:
            process.terminate()
            process.wait()


def _answers(found: Proxied) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection((found.address, found.ports["443"]), timeout=60).close()
        return True
    return False


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxied]:
    with proxied() as found:
        yield found


@needs_nginx
def test_what_comes_without_tls_is_sent_to_it(proxy: Proxied) -> None:
    plain = f"http://{proxy.address}:{proxy.ports['80']}"
    answer = httpx.get(f"{plain}/board/sort?by=time", timeout=60)
    ready = httpx.get(f"{plain}/ready", timeout=60)
    assert (301, f"https://{proxy.address}/board/sort?by=time", 200) == (
        answer.status_code,
        answer.headers["location"],
        ready.status_code,
    )


@needs_nginx
def test_what_a_client_says_of_itself_is_replaced(proxy: Proxied) -> None:
    forged = {
        "X-Forwarded-For": "192.0.2.7",
        "X-Forwarded-Proto": "http",
        "Forwarded": "for=192.0.2.7",
    }
    with proxy.client("127.0.0.9") as client:
        seen = client.get("/x", headers=forged).json()
    of_headers = [seen["headers"].get(name.lower()) for name in forged]
    assert ("127.0.0.9", "https", ["127.0.0.9", "https", None]) == (
        seen["client"],
        seen["scheme"],
        of_headers,
    )
    assert f"{proxy.address}:{proxy.ports['443']}" == seen["headers"]["host"]


@needs_nginx
def test_an_event_arrives_when_it_is_sent() -> None:
    with proxied() as proxy, proxy.client() as client, client.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        assert "data: 1" == next(lines)
        proxy.upstream.go_on.set()
        assert ["", "data: 2", ""] == list(lines)


@needs_nginx
def test_the_largest_body_reaches_the_server_while_it_comes(proxy: Proxied) -> None:
    most = ApiSettings().archive_limit_bytes
    with proxy.socket() as sender:
        head = f"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: {most}\r\n\r\n"
        sender.sendall(head.encode() + b"x" * 1024)
        assert proxy.upstream.began.wait(60)


@needs_nginx
def test_a_larger_body_is_refused(proxy: Proxied) -> None:
    most = ApiSettings().archive_limit_bytes
    with proxy.socket() as sender:
        sender.sendall(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {most + 1}\r\n\r\n".encode())
        assert sender.recv(12) == b"HTTP/1.1 413"


@needs_nginx
def test_who_does_not_read_is_ended_by_the_servers_bounds_and_fills_no_disk() -> None:
    """The server can tell, because the proxy reads no further than its client does."""
    with proxied(ConnectionLimits(silence_s=0.3)) as proxy, proxy.socket() as reader:
        reader.sendall(b"GET /much HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert reader.recv(12) == b"HTTP/1.1 200"
        until(lambda: not proxy.server.server_state.connections)
        length = 0
        with contextlib.suppress(OSError):  # the proxy may reset it
            while piece := reader.recv(1 << 20):
                length += len(piece)
    assert length < MUCH


@needs_nginx
def test_one_client_has_not_all_connections() -> None:
    with (
        proxied(changed=("clients 1024;", "clients 2;")) as proxy,
        contextlib.ExitStack() as held,
        proxy.client() as again,
        proxy.client("127.0.0.9") as other,
    ):
        for _ in range(2):
            client = held.enter_context(proxy.client())
            lines = held.enter_context(client.stream("GET", "/events")).iter_lines()
            held.callback(lines.close)  # type: ignore[attr-defined]  # else it ends at once
            assert "data: 1" == next(lines)
        assert (429, 200) == (again.get("/x").status_code, other.get("/x").status_code)
        proxy.upstream.go_on.set()


@needs_nginx
def test_no_address_is_in_the_log() -> None:
    """Those of jobs are secrets. What fails is logged first of all."""
    with proxied(changed=("server 127.0.0.1:", "server 127.0.0.1:1; #")) as proxy:
        with proxy.client() as client:
            assert 502 == client.get("/api/v1/jobs/1/payload?signature=secret").status_code
        assert "secret" not in proxy.said()


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", None),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2"),
        ("2001:db8:1:2::6", "2001:db8:1:2"),
        ("2001:db8:1::6", "2001:db8:1"),
        ("2001:db8::6", "2001:db8"),
        ("::1", ""),
    ],
)
def test_an_ipv6_network_is_one_client(address: str, client: str | None) -> None:
    patterns = re.findall(r'"~(\^[^"]+)" \$', CONF)
    found = next((found for one in patterns if (found := re.match(one, address))), None)
    assert (2, client) == (len(patterns), found and found[1])


def test_only_the_proxy_is_believed_whom_it_speaks_for() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    proxy, server = services["proxy"], services["server"]
    address = proxy["networks"]["front"]["ipv4_address"]
    assert (address, False) == (server["environment"]["FORWARDED_ALLOW_IPS"], "env_file" in proxy)
    assert {"default", "front"} == set(server["networks"])
