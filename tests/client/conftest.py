"""A server that speaks just enough of the protocol, on a real socket."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.client.spoken import Handle


@pytest.fixture
def serve() -> Iterator[Callable[[Handle], str]]:
    servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(handle: Handle) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                handle(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's)
                return

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()
