"""How a message travels: to the address that was checked, under the name's own certificate."""

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from kernelbot.webhooks.model import DueMessage, WebhookEvent, WebhookRules
from kernelbot.webhooks.sender import Sender, body_of
from tests.fakes.serving import Response
from tests.fakes.webhooks import FakeReceiver, fake_receiver

HERE = WebhookRules(private_addresses=True)
MESSAGE = DueMessage(
    1,
    1,
    "msg-1",
    WebhookEvent.WEBHOOK_TEST,
    {},
    datetime.now(UTC),
    1,
    b"x" * 32,
    0.0,
    1,
    "localhost",
)


@dataclass
class Secured:
    """A receiver with TLS, whose certificate is for `localhost` alone; as which hosts it was
    called."""

    port: int
    trusting: ssl.SSLContext
    hosts: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and isn't installed")
    folder = tmp_path_factory.mktemp("tls")
    found = (folder / "certificate.pem", folder / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-nodes", "-out", str(found[0]), "-keyout", str(found[1])]
    subprocess.run([*command, *name, *files], check=True, capture_output=True)
    return found


@pytest.fixture
def secured(certificate: tuple[Path, Path]) -> Iterator[Secured]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hosts.append(self.headers["host"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that doesn't trust it goes away."""

    server = Server(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    found = Secured(server.server_address[1], trusting)
    hosts = found.hosts
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def receiver() -> Iterator[FakeReceiver]:
    with fake_receiver() as found:
        yield found


async def test_the_address_is_called_under_its_name(secured: Secured) -> None:
    answer = await Sender(HERE, tls=secured.trusting).send(
        f"https://localhost:{secured.port}/", MESSAGE
    )
    assert (204, None, [f"localhost:{secured.port}"]) == (
        answer.status,
        answer.error,
        secured.hosts,
    )


async def test_a_certificate_for_another_name_is_refused(secured: Secured) -> None:
    answer = await Sender(HERE, tls=secured.trusting).send(
        f"https://127.0.0.1:{secured.port}/", MESSAGE
    )
    assert ("Its certificate can't be verified.", []) == (answer.error, secured.hosts)


async def test_a_certificate_that_nobody_signed_is_refused(
    secured: Secured, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the environment trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    answer = await Sender(HERE).send(f"https://localhost:{secured.port}/", MESSAGE)
    assert ("Its certificate can't be verified.", []) == (answer.error, secured.hosts)


async def test_a_name_that_leads_inside_is_not_called(receiver: FakeReceiver) -> None:
    port = urlsplit(receiver.url).port or 0
    sender = Sender(WebhookRules(ports=(port,)))
    answer = await sender.send(f"https://localtest.invalid:{port}/hook", MESSAGE)
    inside = await sender.send(f"https://127.1:{port}/hook", MESSAGE)
    assert ("Its name leads nowhere.", True, []) == (
        answer.error,
        "private network" in (inside.error or ""),
        receiver.received,
    )


async def test_a_receiver_has_as_long_to_answer_as_was_said(
    receiver: FakeReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not as long as the HTTP library would wait by itself."""
    defaults = httpx.AsyncClient.__init__.__kwdefaults__ or {}
    monkeypatch.setitem(defaults, "timeout", 0.01)
    answered = threading.Event()
    receiver.answer = lambda: Response(200 if answered.wait(0.2) else 204)
    assert 204 == (await Sender(HERE).send(receiver.url, MESSAGE)).status


async def test_proxies_of_the_environment_are_not_used(
    receiver: FakeReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    answer = await Sender(HERE).send(receiver.url, MESSAGE)
    assert (200, ["msg-1"]) == (answer.status, [one.message_id for one in receiver.received])


def test_a_body_is_the_same_in_every_attempt() -> None:
    message = replace(
        MESSAGE, data={"b": 1, "a": {"d": 2, "c": 3}}, created_at=datetime(2031, 2, 3, tzinfo=UTC)
    )
    assert body_of(message) == (
        '{"data": {"a": {"c": 3, "d": 2}, "b": 1}, "timestamp": "2031-02-03T00:00:00+00:00",'
        ' "type": "webhook.test"}'
    )
