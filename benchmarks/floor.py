"""What requests cost, against the least that their stack costs: Starlette and one statement.

Run with `python -m benchmarks.floor [--count N] [--rounds N] [--only WORD]`. The floor is served by
a process of its own, over the same database, and asked in turn with the platform. Processor time of
the API and of Postgres, in milliseconds, of one client who asks over one connection: medians of the
rounds, and of how many times the floor it is in the same round, since a machine's speed changes. Of
Postgres those processes count that answer; what the others did meanwhile, e.g. vacuum what
submissions had changed, is printed beside it.
"""

import argparse
import contextlib
import os
import socket
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import httpx
from scripts.ports import free_port

from benchmarks.board_data import AUTHOR_TOKEN, BOARD, ServedBoard, served_board
from benchmarks.processor_time import processor_s_by_process
from benchmarks.standings import PORT, URL
from benchmarks.standings_clients import submit_request
from kernelbot.render.table import table

_AUTHORS, _SUBMISSIONS = 300, 6000
_READ_TIMES, _SUBMIT_TIMES = 3.0, 6.0
"""How many times the floor a request may cost."""
_HEADERS = (
    *("request", "API ms", "times the floor", "Postgres ms", "times the floor of Postgres"),
    *("beside it ms", "at most", ""),
)


@dataclass(frozen=True)
class Operation:
    """A request. `text`: of the nth one; `most`: how many times the floor it may cost."""

    name: str
    text: Callable[[int], bytes]
    most: float = _READ_TIMES


def _get(path: str) -> bytes:
    token = f"Authorization: Bearer {AUTHOR_TOKEN}"
    return f"GET {path} HTTP/1.1\r\nHost: bench\r\n{token}\r\n\r\n".encode()


def _submit(number: int, token: str) -> bytes:
    return submit_request(BOARD, token, f"{os.getpid()} {number}")


FLOOR = Operation("the floor", lambda _: _get("/"), most=1.0)
_PAGE = f"/api/v1/boards/{BOARD}/standings?limit=50"
_WAITING = 20
"""How many of `author-1` wait; they are the first behind those that the data has."""


def operations(organiser: str) -> tuple[Operation, ...]:
    """All requests. `organiser`: whose token submits, so that what is polled has few beside it."""
    own = "/api/v1/submissions?limit=50"
    headers = {"Authorization": f"Bearer {AUTHOR_TOKEN}"}
    listed = httpx.get(f"{URL}{own}", headers=headers, timeout=60).raise_for_status().json()
    judged = [one["id"] for one in listed["submissions"] if one["state"] == "finished"]
    return (
        Operation("standings, first page", lambda _: _get(_PAGE)),
        Operation("standings, deep page", lambda n: _get(f"{_PAGE}&offset={101 + n % 140}")),
        Operation("list of one's own", lambda _: _get(own)),
        Operation("one's own on a board", lambda _: _get(f"{own}&board={BOARD}")),
        Operation("submission by id", lambda n: _get(_submission(judged[n % len(judged)]))),
        Operation("poll", lambda n: _get(_submission(_SUBMISSIONS + 1 + n % _WAITING))),
        Operation("submit", lambda n: _submit(n, organiser), _SUBMIT_TIMES),
    )


def _submission(number: int) -> str:
    return f"/api/v1/submissions/{number}"


def ask(port: int, operation: Operation, numbers: range) -> None:
    """Ask for all of them, one after the other. Raises RuntimeError unless all are answered."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection.makefile("rb") as answers:
            for number in numbers:
                connection.sendall(operation.text(number))
                status = answers.readline()
                length = 0
                while (line := answers.readline().strip().lower()) != b"":
                    if line.startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                body = answers.read(length)
                if status.split()[1] not in (b"200", b"201"):
                    raise RuntimeError(f"{operation.name}: {status!r} {body[:500]!r}")


@contextlib.contextmanager
def served_floor(url: str) -> Iterator[tuple[int, int]]:
    """The floor's port and process."""
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.floor_app", url, str(port)]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(port, process)
            yield port, process.pid
        finally:
            process.terminate()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
    raise RuntimeError("The floor didn't start.")


class Cost(NamedTuple):
    """Of a request, in milliseconds of a processor. `beside`: of what else Postgres did."""

    api: float
    postgres: float
    beside: float


@dataclass(frozen=True)
class Asked:
    """What is asked: the platform, or the floor."""

    port: int
    api: int
    postgres: int

    def cost_ms(self, operation: Operation, numbers: range) -> Cost:
        """Of one request. What a process used that has ended meanwhile is left out."""
        before = self._used_s()
        ask(self.port, operation, numbers)
        used = {
            process: (now_s - before.get(process, 0.0)) * 1e3 / len(numbers)
            for process, now_s in self._used_s().items()
        }
        postgres = processor_s_by_process(self.postgres).keys()
        answering = {pid for pid in postgres & used.keys() if _answers(pid)}
        return Cost(
            sum(ms for pid, ms in used.items() if pid not in postgres),
            sum(used[pid] for pid in answering),
            sum(ms for pid, ms in used.items() if pid in postgres and pid not in answering),
        )

    def _used_s(self) -> dict[int, float]:
        return processor_s_by_process(self.api) | processor_s_by_process(self.postgres)


def _answers(pid: int) -> bool:
    """Whether a process of Postgres answers a client: its name says whose, and over what."""
    try:
        return b"[local]" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _measured(board: ServedBoard, count: int, rounds: int, only: str) -> list[list[str]]:
    asked = [one for one in operations(board.organiser.token) if only in one.name]
    platform = Asked(PORT, *board.pids)
    found: dict[str, list[Cost]] = {}
    waiting = Operation("submit", lambda n: _submit(-1 - n, AUTHOR_TOKEN))
    ask(PORT, waiting, range(_WAITING))
    with served_floor(board.url) as (port, pid):
        floor = Asked(port, pid, board.pids[1])
        for number in range(rounds + 1):  # the first opens connections and plans statements
            numbers = range(number * count, (number + 1) * count)
            found.setdefault(FLOOR.name, []).append(floor.cost_ms(FLOOR, numbers))
            for one in asked:
                found.setdefault(one.name, []).append(platform.cost_ms(one, numbers))
    least = found[FLOOR.name][1:]
    return [_row(one, found[one.name][1:], least) for one in (FLOOR, *asked)]


def _row(operation: Operation, costs: list[Cost], least: list[Cost]) -> list[str]:
    api, postgres, beside = (statistics.median(column) for column in zip(*costs, strict=True))
    pairs = list(zip(costs, least, strict=True))
    api_times = statistics.median(cost.api / floor.api for cost, floor in pairs)
    postgres_times = statistics.median(cost.postgres / floor.postgres for cost, floor in pairs)
    return [
        operation.name,
        *(f"{api:.3f}", f"{api_times:.1f}", f"{postgres:.3f}", f"{postgres_times:.1f}"),
        *(f"{beside:.3f}", f"{operation.most:g}"),
        "holds" if max(api_times, postgres_times) <= operation.most else "MISSED",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="requests whose name has this word")
    arguments = parser.parse_args()
    with served_board(_AUTHORS, _SUBMISSIONS) as board:
        rows = _measured(board, arguments.count, arguments.rounds, arguments.only)
    print(table(_HEADERS, rows, right=_HEADERS[1:-1]))


if __name__ == "__main__":
    main()
