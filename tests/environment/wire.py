"""OpenEnv's protocol as a client speaks it: JSON by WebSocket, and over HTTP."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

MAX_BYTES = 64 << 20
_ANSWER_S = 300.0
"""An endless loop may take a minute and more beside others: until it has computed for its limit."""


class Talk:
    """One session by WebSocket: a message, then its answer."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def say(self, message: object) -> dict[str, Any]:
        """The answer to any JSON."""
        return self.say_text(json.dumps(message))

    def say_text(self, text: str | bytes) -> dict[str, Any]:
        """The answer to any frame."""
        self.connection.send(text)
        return self.hear()

    def hear(self) -> dict[str, Any]:
        """The next frame."""
        found: dict[str, Any] = json.loads(self.connection.recv(timeout=_ANSWER_S))
        return found

    def reset(self, **how: object) -> dict[str, Any]:
        """The first observation, enveloped; or an error's data."""
        found: dict[str, Any] = self.say({"type": "reset", "data": how})["data"]
        return found

    def step(self, source: str, **more: object) -> dict[str, Any]:
        """The observation that follows, enveloped; or an error's data."""
        found: dict[str, Any] = self.say({"type": "step", "data": {"source": source, **more}})
        return dict(found["data"])

    def state(self) -> dict[str, Any]:
        """How far it is."""
        found: dict[str, Any] = self.say({"type": "state"})["data"]
        return found


@dataclass(frozen=True)
class Served:
    """A server."""

    url: str
    pid: int

    @contextmanager
    def talk(self) -> Iterator[Talk]:
        """A session, until the end of the block."""
        with connect(
            self.url.replace("http", "ws") + "/ws",
            max_size=MAX_BYTES,
            compression=None,
            proxy=None,
            open_timeout=60,
            ping_interval=None,
        ) as connection:
            yield Talk(connection)

    def get(self, path: str, **query: str) -> httpx.Response:
        """Over HTTP."""
        return httpx.get(self.url + path, params=query, timeout=60, trust_env=False)

    def post(self, path: str, body: object = None) -> httpx.Response:
        """JSON, or as it is."""
        if isinstance(body, bytes):
            return httpx.post(self.url + path, content=body, timeout=60, trust_env=False)
        return httpx.post(self.url + path, json=body, timeout=60, trust_env=False)
