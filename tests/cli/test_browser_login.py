"""A login by a browser while the network comes and goes."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kernelbot.cli.accounts import _from_browser
from kernelbot.cli.terminal import Terminal
from kernelbot.client import Unreachable

BEGUN = {
    "device_code": "d",
    "user_code": "ABCD-EFGH",
    "verification_url": "http://kernels.example/device",
    "interval_s": 0,
}
ACCOUNT = {
    "id": 7,
    "name": "grace",
    "role": "competitor",
    "created_at": "2026-01-01T00:00:00Z",
    "token": "kb_t",
}


class _Server(ThreadingHTTPServer):
    """Answers the first polls not at all."""

    expires_in_s = 600
    lost_polls = 2


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        if not self.path.endswith("/poll"):
            self._answer(BEGUN | {"expires_in_s": self.server.expires_in_s})
        elif self.server.lost_polls:
            self.server.lost_polls -= 1
            self.close_connection = True
        else:
            self._answer({"login": ACCOUNT})

    def _answer(self, document: object) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's)
        return


@pytest.fixture
def server() -> Iterator[_Server]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        answering = threading.Thread(target=server.serve_forever, args=(0.01,))
        answering.start()
        yield server
        server.shutdown()
        answering.join()


def _logged_in(server: _Server) -> str:
    return _from_browser(f"http://127.0.0.1:{server.server_port}", {}, Terminal(as_json=True))


def test_polls_that_are_lost_are_sent_again(server: _Server) -> None:
    assert "kb_t" == _logged_in(server)


def test_a_server_that_stays_away_is_what_is_told(server: _Server) -> None:
    server.expires_in_s, server.lost_polls = 1, 10**9
    with pytest.raises(Unreachable):
        _logged_in(server)
