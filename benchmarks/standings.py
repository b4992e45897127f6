"""How fast a large competition answers: standings, lists, submissions, submitting.

Run with `python -m benchmarks.standings [--data DIR] [--seconds S] [--processes N] [--only WORD]`.
The first run makes the data of `standings_data.py` in DIR, which takes minutes and some 5 GB; the
following ones find it there. Server and clients are processes of their own on this machine.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import platformdirs
import psycopg

from benchmarks import standings_data
from benchmarks.figures import quantile
from kernelbot.render.table import table
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import migrate

CLIENTS = (1, 16, 64)
OPERATIONS = (
    "standings, first page",
    "standings, deep page",
    "list of one's own",
    "submission by id",
    "submit",
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
def database(folder: Path) -> Iterator[str]:
    """The data's server, with the data."""
    postgres = EmbeddedPostgres(folder / "postgres")
    url = postgres.start()
    try:
        if standings_data.seeded(url):
            migrate(url)
        else:
            print("Making the data, for some minutes ...", file=sys.stderr)
            standings_data.seed(url)
        yield url
    finally:
        postgres.stop()


@contextlib.contextmanager
def servers(folder: Path, url: str, count: int) -> Iterator[tuple[str, ...]]:
    """So many API processes, each on a port of its own as behind a proxy."""
    config = folder / "kernelbot.toml"
    config.write_text(_CONFIG)
    started = []
    try:
        for number in range(count):
            port = 18300 + number
            environment = {**os.environ, "DATABASE_URL": url, "KERNELBOT_CONFIG": str(config)}
            command = [sys.executable, "-m", "kernelbot", "serve", "--no-worker"]
            command += ["--port", str(port), "--data", str(folder / f"serve-{number}")]
            with (folder / f"serve-{number}.log").open("wb") as log:
                process = subprocess.Popen(command, env=environment, stderr=log)
            started.append((process, f"http://127.0.0.1:{port}"))
        for process, address in started:
            _wait_for(process, address)
        yield tuple(address for _, address in started)
    finally:
        for process, _ in started:
            process.terminate()
        for process, _ in started:
            process.wait(timeout=30)


def _wait_for(process: subprocess.Popen[bytes], address: str) -> None:
    give_up_s = time.monotonic() + 60
    while time.monotonic() < give_up_s and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{address}/health").is_success:
                return
        time.sleep(0.1)
    raise RuntimeError(f"The server at {address} didn't start.")


def latest_of_clients(url: str) -> list[list[int]]:
    """Of each client its submissions among the latest, which have whole results."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT array_agg(s.id) FROM tokens t JOIN submissions s ON s.author_id = t.user_id"
            " WHERE t.name = 'benchmark' AND s.id BETWEEN 990001 AND 1000000"
            " GROUP BY t.id ORDER BY t.id"
        ).fetchall()
    return [row[0] for row in rows]


def measured(job: dict[str, object]) -> dict[str, list[float]]:
    """What the clients' process found."""
    command = [sys.executable, "-m", "benchmarks.standings_clients", json.dumps(job)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def row_of(
    operation: str, clients: int, found: dict[str, list[float]], seconds: float
) -> list[str]:
    """A line of the table."""
    times, health = found["times_s"], found["health_s"]
    shares = [f"{quantile(times, share) * 1e3:.1f}" for share in (0.5, 0.95, 0.99)]
    rate = f"{len(times) / seconds:.0f}"
    return [operation, str(clients), *shares, rate, f"{quantile(health, 0.99) * 1e3:.1f}"]


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
    rows = []
    with (
        database(arguments.data) as url,
        servers(arguments.data, url, arguments.processes) as urls,
    ):
        job = {"urls": urls, "duration_s": arguments.seconds, "submissions": latest_of_clients(url)}
        for operation in (name for name in OPERATIONS if arguments.only in name):
            measured({**job, "operation": operation, "clients": 4, "duration_s": 1.0})  # warm up
            for clients in arguments.clients:
                found = measured({**job, "operation": operation, "clients": clients})
                rows.append(row_of(operation, clients, found, arguments.seconds))
    headers = ("operation", "clients", "p50 ms", "p95 ms", "p99 ms", "per s", "health p99 ms")
    print(table(headers, rows, right=headers[1:]))


if __name__ == "__main__":
    main()
