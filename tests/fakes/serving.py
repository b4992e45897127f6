"""Small HTTP servers on loopback, for fakes that speak a protocol."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    query: dict[str, str]
    headers: Message
    body: bytes


@dataclass(frozen=True)
class Response:
    """What it gets."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    stream: Iterable[bytes] | None = None
    """What goes on after that, as it comes."""


@contextmanager
def serving(handle: Callable[[Request], Response], name: str) -> Iterator[str]:
    """The URL of a server that answers by `handle`, in threads, until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer goes out in one piece
        disable_nagle_algorithm = True

        def answer(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            response = handle(Request(self.command, parts.path, query, self.headers, body))
            self.send_response_only(response.status)
            for key, value in response.headers.items():
                self.send_header(key, value)
            if response.stream is not None:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.send(response.stream)
                return
            if response.status not in (204, 304):
                self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            if response.status not in (204, 304):
                self.wfile.write(response.body)

        def send(self, stream: Iterable[bytes]) -> None:
            self.wfile.flush()
            for part in stream:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 (the base's names)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128  # of five, those beyond try again after a second, and then two

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away in the middle is none of a test's."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name=name)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
