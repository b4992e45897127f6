"""Which servers are believed: as by httpx, those with a certificate for their address, signed by
one of the usual authorities or of `SSL_CERT_FILE`."""

import datetime
import ipaddress
import ssl
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from kernelbot.client import KernelbotClient, Unreachable
from tests.client.spoken import answer

BOARDS = b'{"boards": []}'
HERE = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
ELSEWHERE = x509.DNSName("kernels.lab")

Serve = Callable[[x509.GeneralName], str]


def certificate(name: x509.GeneralName, file: Path) -> None:
    """One that has signed itself, for `name`, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    common = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test's")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(common)
        .issuer_name(common)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([name]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(made.public_bytes(Encoding.PEM) + secret)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "certificate.pem"


@pytest.fixture
def encrypted(file: Path, request: pytest.FixtureRequest) -> Serve:
    def start(name: x509.GeneralName) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer(self, 200, BOARDS)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's)
                return

        certificate(name, file)
        settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        settings.load_cert_chain(file)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.socket = settings.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        request.addfinalizer(thread.join)
        request.addfinalizer(server.server_close)
        request.addfinalizer(server.shutdown)
        return f"https://127.0.0.1:{server.server_address[1]}"

    return start


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)


def refusal(url: str) -> str:
    with KernelbotClient(url, "secret") as client, pytest.raises(Unreachable) as refused:
        client.boards()
    return str(refused.value)


def test_an_authority_that_was_named_is_believed(
    encrypted: Serve, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = encrypted(HERE)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with KernelbotClient(url, "secret") as client:
        assert [] == client.boards().boards


def test_an_authority_that_nobody_has_named_is_not(encrypted: Serve) -> None:
    url = encrypted(HERE)
    with pytest.raises(httpx.ConnectError, match="self-signed certificate"):
        httpx.get(url)
    assert "CERTIFICATE_VERIFY_FAILED" in refusal(url)


def test_a_certificate_for_another_address_is_not(
    encrypted: Serve, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = encrypted(ELSEWHERE)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert "certificate is not valid for '127.0.0.1'" in refusal(url)
