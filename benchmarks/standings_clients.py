"""The clients of `benchmarks.standings`, in a process of their own: they speak HTTP over sockets
and print the times of all answers as JSON.

A bare protocol and no client library: clients share the machine with what they measure, and a
library's millisecond for each request would be most of what is measured.
"""

import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchmarks.standings_data import token_of

_SOURCE = "def custom_kernel(data):\n    return data\n" * 40
_BOUNDARY = "benchmark-boundary"
WARM_UP_S = 0.5


@dataclass(frozen=True)
class Job:
    """What the clients do for the duration, and half a second before that isn't counted: then
    connections are opened and statements planned.

    `submissions`: by client, ids of which each request reads one.
    """

    url: str
    operation: str
    clients: int
    duration_s: float
    submissions: tuple[tuple[int, ...], ...] = ()


def request_of(job: Job, client: int) -> bytes:
    """The next request of a client."""
    if job.operation == "submit":
        return submit_request("board-2", token_of(client), str(random.random()))
    token = f"Authorization: Bearer {token_of(client)}\r\n"
    page = "/api/v1/boards/board-1/standings?limit=50"
    own = job.submissions[client % len(job.submissions)] if job.submissions else (1,)
    one = f"/api/v1/submissions/{random.choice(own)}"
    path, header = {
        "standings, first page": (page, ""),
        "standings, deep page": (f"{page}&offset={random.randrange(10_000, 14_900)}", ""),
        "list of one's own": ("/api/v1/submissions?limit=50", token),
        "one's own on a board": ("/api/v1/submissions?limit=50&board=board-1", token),
        "submission by id": (one, token),
        "poll": (one, token),
        "health": ("/health", ""),
    }[job.operation]
    return f"GET {path} HTTP/1.1\r\nHost: bench\r\n{header}\r\n".encode()


def submit_request(board: str, token: str, note: str) -> bytes:
    """One that sends a file in mode `test`; `note` makes it another one than those before."""
    fields = {"board": board, "mode": "test", "device": "CPU"}
    parts = [
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    parts.append(
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\n'
        f"#!POPCORN leaderboard {board}\n{_SOURCE}# {note}\r\n--{_BOUNDARY}--\r\n"
    )
    body = "".join(parts).encode()
    head = (
        f"POST /api/v1/submissions HTTP/1.1\r\nHost: bench\r\n"
        f"Authorization: Bearer {token}\r\n"
        f"Content-Type: multipart/form-data; boundary={_BOUNDARY}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class _Client(asyncio.Protocol):
    """Asks over one connection, one request after the other, until the time is over."""

    def __init__(self, job: Job, client: int, until_s: float, times_s: list[float]) -> None:
        self.done = asyncio.get_running_loop().create_future()
        self._job = job
        self._client = client
        self._from_s = until_s - job.duration_s
        self._until_s = until_s
        self._times_s = times_s
        self._pause_s = 0.1 if job.operation == "health" else 0.0
        self._answer = bytearray()
        self._length = 0
        """Of the whole answer; 0 while its head isn't there."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask the first time."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Note the time of a whole answer and ask again."""
        self._answer += data
        if not self._length and (head := self._answer.find(b"\r\n\r\n")) >= 0:
            self._length = head + 4 + _content_length(bytes(self._answer[:head]))
        if self._length and len(self._answer) >= self._length:
            if self._asked_s >= self._from_s:
                self._times_s.append(time.perf_counter() - self._asked_s)
            if not self._answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
                text = self._answer[:1000].decode()
                self.done.set_exception(RuntimeError(f"{self._job.operation}: {text}"))
            elif self._pause_s:
                asyncio.get_running_loop().call_later(self._pause_s, self._ask)
            else:
                self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        """An end before the time is an error."""
        if not self.done.done():
            self.done.set_exception(error or RuntimeError(f"{self._job.operation}: hung up"))

    def _ask(self) -> None:
        self._answer.clear()
        self._length = 0
        self._asked_s = time.perf_counter()
        if self._asked_s < self._until_s:
            self._transport.write(request_of(self._job, self._client))
        else:
            self.done.set_result(None)
            self._transport.close()


def _content_length(head: bytes) -> int:
    return int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])


async def one_client(job: Job, client: int, until_s: float, times_s: list[float]) -> None:
    """A client from its first request to its last."""
    address = urlsplit(job.url)
    assert address.hostname is not None
    assert address.port is not None
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(
        lambda: _Client(job, client, until_s, times_s), address.hostname, address.port
    )
    await protocol.done


async def measure(job: Job) -> dict[str, list[float]]:
    """All clients for the duration, and one more that asks for /health meanwhile."""
    times_s: list[float] = []
    health_s: list[float] = []
    until_s = time.perf_counter() + WARM_UP_S + job.duration_s
    probe = Job(job.url, "health", 1, job.duration_s)
    async with asyncio.TaskGroup() as group:
        for client in range(job.clients):
            group.create_task(one_client(job, client, until_s, times_s))
        group.create_task(one_client(probe, 0, until_s, health_s))
    return {"times_s": times_s, "health_s": health_s}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Job(**json.load(sys.stdin))))))
