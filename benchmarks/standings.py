"""How fast a large competition answers: standings, lists, submissions, submitting.

Run with `python -m benchmarks.standings [--data DIR] [--seconds S] [--processes N] [--only WORD]`.
The first run makes the data of `standings_data.py` in DIR, which takes some minutes and 3 GB; the
following ones find it there. Server and clients are processes of their own on this machine. The
last two columns are the processor time of one request, which depends the least on what else runs.
"""

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import platformdirs
import psycopg

from benchmarks import standings_data
from benchmarks.databases import RunningPostgres, running_postgres
from benchmarks.figures import quantile
from benchmarks.processor_time import processor_s
from benchmarks.standings_clients import WARM_UP_S
from kernelbot.render.table import table
from kernelbot.store.migrate import migrate

PORT = 18300
URL = f"http://127.0.0.1:{PORT}"
CLIENTS = (1, 16, 64)
OPERATIONS = (
    "standings, first page",
    "standings, deep page",
    "list of one's own",
    "one's own on a board",
    "submission by id",
    "submit",
    "poll",
)
HEADERS = (
    *("operation", "clients", "p50 ms", "p95 ms", "p99 ms", "per s", "health p99 ms"),
    *("API ms", "Postgres ms"),
)
_CONFIG = """
[[devices]]
name = "CPU"
[[devices]]
name = "H100"
vendor = "nvidia"
[queue]
waiting_limit = 1000000
"""


@contextlib.contextmanager
def database(folder: Path) -> Iterator[RunningPostgres]:
    """The data's server, with the data."""
    with running_postgres(folder / "postgres") as postgres:
        url = postgres.admin_url  # the data is made without its triggers
        if standings_data.seeded(url):
            migrate(url)
        else:
            print("Making the data, for some minutes ...", file=sys.stderr)
            standings_data.seed(url)
        yield postgres


@contextlib.contextmanager
def server(folder: Path, url: str, processes: int) -> Iterator[int]:
    """`kernelbot serve` on `URL`; its process id."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", PORT)) == 0:
            raise RuntimeError(f"Another server has port {PORT}; it would be measured instead.")
    config = folder / "kernelbot.toml"
    config.write_text(_CONFIG)
    environment = {**os.environ, "DATABASE_URL": url, "KERNELBOT_CONFIG": str(config)}
    command = [sys.executable, "-m", "kernelbot", "serve", "--no-worker", "--port", str(PORT)]
    command += ["--data", str(folder / "serve"), "--processes", str(processes)]
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stderr=log)
    try:
        _wait_for(process)
        yield process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    give_up_s = time.monotonic() + 60
    while time.monotonic() < give_up_s and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{URL}/health").is_success:
                return
        time.sleep(0.1)
    raise RuntimeError(f"The server at {URL} didn't start.")


def submissions_of_clients(url: str, *, waiting: bool) -> list[list[int]]:
    """Some submissions of each client: waiting ones, or of the latest with results."""
    which = (
        "s.id > 1000000 AND EXISTS (SELECT 1 FROM runs r"
        " WHERE r.submission_id = s.id AND r.state = 'queued')"
        if waiting
        else "s.id BETWEEN 990001 AND 1000000"
    )
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT array_agg(s.id) FROM tokens t JOIN submissions s ON s.author_id = t.user_id"
            f" WHERE t.name = 'benchmark' AND {which} GROUP BY t.id ORDER BY t.id"
        ).fetchall()
    return [row[0] for row in rows]


def measured(job: dict[str, object]) -> dict[str, list[float]]:
    """What the clients' process found."""
    command = [sys.executable, "-m", "benchmarks.standings_clients"]
    job_json = json.dumps(job).encode()
    done = subprocess.run(command, input=job_json, stdout=subprocess.PIPE, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


@dataclass(frozen=True)
class Bench:
    """Where to measure, and for how long."""

    url: str
    api: int
    postgres: int
    """The processes at the head of each."""
    seconds: float

    def rows_of(self, operation: str, clients: Sequence[int]) -> Iterator[list[str]]:
        """The lines of an operation, one for each number of clients."""
        job: dict[str, object] = {"url": URL, "operation": operation, "duration_s": self.seconds}
        if operation == "poll":  # for something that waits
            measured({**job, "operation": "submit", "clients": CLIENTS[-1], "duration_s": 1.0})
        job["submissions"] = submissions_of_clients(self.url, waiting=operation == "poll")
        measured({**job, "clients": 4, "duration_s": 1.0})  # warm up
        for count in clients:
            before = processor_s(self.api), processor_s(self.postgres)
            found = measured({**job, "clients": count})
            after = processor_s(self.api), processor_s(self.postgres)
            used_s = [late - early for early, late in zip(before, after, strict=True)]
            yield [operation, str(count), *_figures(found, self.seconds, used_s)]


def _figures(found: dict[str, list[float]], seconds: float, used_s: list[float]) -> list[str]:
    times = found["times_s"]
    shares = [f"{quantile(times, share) * 1e3:.1f}" for share in (0.5, 0.95, 0.99)]
    health = f"{quantile(found['health_s'], 0.99) * 1e3:.1f}"
    counted = seconds / (WARM_UP_S + seconds)
    used = [f"{total * counted / len(times) * 1e3:.2f}" for total in used_s]
    return [*shares, f"{len(times) / seconds:.0f}", health, *used]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=platformdirs.user_cache_path("kernelbot") / "standings"
    )
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="operations whose name has this word")
    parser.add_argument("--clients", type=int, nargs="+", default=CLIENTS)
    arguments = parser.parse_args()
    arguments.data.mkdir(parents=True, exist_ok=True)
    rows: list[list[str]] = []
    with (
        database(arguments.data) as postgres,
        server(arguments.data, postgres.admin_url, arguments.processes) as api,
    ):
        bench = Bench(postgres.admin_url, api, postgres.pid, arguments.seconds)
        for operation in (name for name in OPERATIONS if arguments.only in name):
            rows += bench.rows_of(operation, arguments.clients)
    print(table(HEADERS, rows, right=HEADERS[1:]))


if __name__ == "__main__":
    main()
