"""The clients of `benchmarks.standings`, in a process of their own: they speak HTTP over sockets
and print the times of all answers as JSON.

Plain sockets and no client library: clients share the machine with what they measure, and a
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

_SOURCE = "#!POPCORN leaderboard board-2\n" + "def custom_kernel(data):\n    return data\n" * 40
_BOUNDARY = "benchmark-boundary"


@dataclass(frozen=True)
class Job:
    """What the clients do. `submissions`: by client, ids of which each request reads one."""

    urls: tuple[str, ...]
    operation: str
    clients: int
    duration_s: float
    submissions: tuple[tuple[int, ...], ...] = ()


def request_of(job: Job, client: int) -> bytes:
    """The next request of a client."""
    token = f"Authorization: Bearer {token_of(client)}\r\n"
    if job.operation == "submit":
        return _submit(token)
    page = "/api/v1/boards/board-1/standings?limit=50"
    own = job.submissions[client % len(job.submissions)] if job.submissions else (1,)
    one = f"/api/v1/submissions/{random.choice(own)}"
    path, header = {
        "standings, first page": (page, ""),
        "standings, deep page": (f"{page}&offset={random.randrange(10_000, 14_900)}", ""),
        "list of one's own": ("/api/v1/submissions?limit=50", token),
        "submission by id": (one, token),
        "health": ("/health", ""),
    }[job.operation]
    return f"GET {path} HTTP/1.1\r\nHost: bench\r\n{header}\r\n".encode()


def _submit(token: str) -> bytes:
    fields = {"board": "board-2", "mode": "test", "device": "CPU"}
    parts = [
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    parts.append(
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\n'
        f"{_SOURCE}# {random.random()}\r\n--{_BOUNDARY}--\r\n"
    )
    body = "".join(parts).encode()
    head = (
        f"POST /api/v1/submissions HTTP/1.1\r\nHost: bench\r\n{token}"
        f"Content-Type: multipart/form-data; boundary={_BOUNDARY}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def one_client(job: Job, client: int, until_s: float, times_s: list[float]) -> None:
    """Ask over one connection, one request after the other."""
    address = urlsplit(job.urls[client % len(job.urls)])
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    pause_s = 0.1 if job.operation == "health" else 0.0
    while time.perf_counter() < until_s:
        began = time.perf_counter()
        writer.write(request_of(job, client))
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        times_s.append(time.perf_counter() - began)
        if head.split(b" ", 2)[1] not in (b"200", b"201"):
            raise RuntimeError(f"{job.operation}: {head.decode()}{body[:500].decode()}")
        if pause_s:
            await asyncio.sleep(pause_s)
    writer.close()


async def measure(job: Job) -> dict[str, list[float]]:
    """All clients for the duration, and one more that asks for /health meanwhile."""
    times_s: list[float] = []
    health_s: list[float] = []
    until_s = time.perf_counter() + job.duration_s
    probe = Job(job.urls, "health", 1, job.duration_s)
    async with asyncio.TaskGroup() as group:
        for client in range(job.clients):
            group.create_task(one_client(job, client, until_s, times_s))
        group.create_task(one_client(probe, 0, until_s, health_s))
    return {"times_s": times_s, "health_s": health_s}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Job(**json.loads(sys.argv[1]))))))
