"""The real services, store and worker against simulated schedulers, in compressed time: is anything
lost or doubled, who waits how long, and what do database and worker cost?

Run with `python -m benchmarks.cluster_sim [--authors 200] [--submissions 2000] [--speed 10]
[--rate 50] [--kills 2]`; the full size is `--authors 10000 --submissions 100000`. Actions takes 10
to 60 s to start a job, Modal 2 to 20 s, Slurm 0.1 to 30 s; 2 % of the jobs fail there. `--rate`:
submissions a second on average, of real time; twice as many in the last fifth, before the deadline.
`--load`: for how much of the schedulers' slots that is. `--kills`: how often a worker is killed.
The exit code is 1 if anything was lost or doubled.
"""

import argparse
import asyncio
import contextlib
import logging
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import structlog

from benchmarks.cluster_sim_ends import Ends, fairness_rows, read_ends
from benchmarks.cluster_sim_launchers import PROBLEM, SCHEDULERS
from benchmarks.cluster_sim_plan import Options, Order, make_orders
from benchmarks.cluster_sim_workers import Workers
from benchmarks.databases import running_postgres
from benchmarks.figures import median_and_p95_ms, quantile
from benchmarks.processor_time import processor_s
from kernelbot.accounts.model import Role, User
from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import Unavailable
from kernelbot.protocol import DeviceSpec, Vendor
from kernelbot.render.table import table
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.queue.model import QueueRules
from kernelbot.server.wiring import open_services
from kernelbot.services import Services
from kernelbot.store.migrate import migrate
from kernelbot.submissions.model import NewSubmission

BOARD = "simulated"
LOOK_S = 0.5
CLIENTS = 100
"""How many submissions are under way at once, at most."""
_AGAIN_S = 1.0
PATIENCE_S = 120.0
"""Without the end of any run, what is left counts as lost."""
_OPEN = "SELECT count(*) FROM runs WHERE state IN ('queued', 'dispatched', 'running')"
_IN_FLIGHT = "SELECT count(*) FROM runs WHERE state IN ('dispatched', 'running')"


@dataclass
class Load:
    """What was used. Processor times are in seconds, of all processes of a kind."""

    sender_s: float = 0.0
    worker_s: float = 0.0
    postgres_s: float = 0.0
    seconds: float = 0.0
    worker_bytes: int = 0
    most_in_flight: int = 0
    most_waiting: int = 0
    transactions: int = 0
    wal_bytes: int = 0
    database_bytes: int = 0
    submit_s: list[float] = field(default_factory=list)
    refused: int = 0
    """How often a submission had to be sent again, as no connection was free for seconds."""
    behind_s: float = 0.0
    """How late the last submissions were sent: more than a little means that `rate` is too much."""


async def simulate(url: str, folder: Path, options: Options, postgres_pid: int) -> Load:
    """Send everything, and return when it has ended or nothing more happens."""
    devices = tuple(
        DeviceConfig(DeviceSpec(each.device, Vendor.NVIDIA), (each.name,), 1) for each in SCHEDULERS
    )
    rules = QueueRules(waiting_limit=1_000_000)
    async with open_services(url, devices, queue_rules=rules) as core:
        authors = await _prepare(core.services, options.authors)
        with _working(url, folder, options) as workers, psycopg.connect(url, autocommit=True) as db:
            load = _started(db, postgres_pid)
            began_s = time.monotonic()
            async with _killing(workers, options):
                sending = asyncio.create_task(_send(core.services, authors, options, load))
                await _until_over(db, workers, sending, load)
            load.seconds = time.monotonic() - began_s
            load.worker_s = workers.used_s()
            _ended(db, postgres_pid, load)
    return load


async def _prepare(services: Services, count: int) -> list[User]:
    problem = load_problem(PROBLEM).definition
    admin = await services.users.create("simulated-admin", Role.ADMIN)
    devices = tuple(each.device for each in SCHEDULERS)
    await services.boards.create(admin.user, problem, name=BOARD, devices=devices)
    few = asyncio.Semaphore(5)

    async def one(number: int) -> User:
        async with few:
            return (await services.users.create(f"author-{number}")).user

    return list(await asyncio.gather(*(one(number) for number in range(count))))


@contextlib.contextmanager
def _working(url: str, folder: Path, options: Options) -> Iterator[Workers]:
    workers = Workers(url, folder, options)
    try:
        yield workers
    finally:
        workers.stop()


@contextlib.asynccontextmanager
async def _killing(workers: Workers, options: Options) -> AsyncIterator[None]:
    """At even moments while submissions come."""

    async def kill() -> None:
        for _ in range(options.kills):
            await asyncio.sleep(options.lasts_s / (options.kills + 1))
            workers.kill_one()

    task = asyncio.create_task(kill())
    try:
        yield
    finally:
        task.cancel()


async def _send(services: Services, authors: list[User], options: Options, load: Load) -> None:
    """Each in its moment, or as soon as one of `CLIENTS` is free: more at once than connections can
    serve would only time out, and come again."""
    began_s = time.monotonic()
    free = asyncio.Semaphore(CLIENTS)

    async def send(number: int, order: Order) -> None:
        try:
            await _submit(services, authors[order.author], number, order, load)
        finally:
            free.release()

    async with asyncio.TaskGroup() as group:
        for number, order in enumerate(make_orders(options)):
            early_s = began_s + order.at_s - time.monotonic()
            await asyncio.sleep(max(early_s, 0.0))
            await free.acquire()
            group.create_task(send(number, order))
    load.behind_s = time.monotonic() - began_s - options.lasts_s


async def _submit(services: Services, author: User, number: int, order: Order, load: Load) -> None:
    code = f"def custom_kernel(data):\n    return data.copy() + 0 * {number}\n".encode()
    new = NewSubmission(BOARD, (order.device,), order.mode, "mine.py", code)
    began_s = time.monotonic()
    while True:
        try:
            await services.submissions.create(author, new)
        except Unavailable:  # on a machine that is too busy; a client tries again, too
            load.refused += 1
            await asyncio.sleep(_AGAIN_S)
        else:
            break
    load.submit_s.append(time.monotonic() - began_s)


async def _until_over(
    db: psycopg.Connection, workers: Workers, sending: asyncio.Task[None], load: Load
) -> None:
    before, changed_s = -1, time.monotonic()
    while True:
        await asyncio.sleep(LOOK_S)
        if sending.done():
            sending.result()
        left, in_flight = _count(db, _OPEN), _count(db, _IN_FLIGHT)
        load.most_in_flight = max(load.most_in_flight, in_flight)
        load.most_waiting = max(load.most_waiting, left - in_flight)
        load.worker_bytes = max(load.worker_bytes, workers.memory_bytes())
        if left != before:
            before, changed_s = left, time.monotonic()
        if sending.done() and (left == 0 or time.monotonic() - changed_s > PATIENCE_S):
            return


def _count(db: psycopg.Connection, statement: str) -> int:
    row = db.execute(statement.encode()).fetchone()
    assert row is not None
    return int(row[0])


_TRANSACTIONS = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
_WAL = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"


def _started(db: psycopg.Connection, postgres_pid: int) -> Load:
    return Load(
        sender_s=-time.process_time(),
        postgres_s=-processor_s(postgres_pid),
        transactions=-_count(db, _TRANSACTIONS),
        wal_bytes=-_count(db, _WAL),
    )


def _ended(db: psycopg.Connection, postgres_pid: int, load: Load) -> None:
    load.sender_s += time.process_time()
    load.postgres_s += processor_s(postgres_pid)
    load.transactions += _count(db, _TRANSACTIONS)
    load.wal_bytes += _count(db, _WAL)
    load.database_bytes = _count(db, "SELECT pg_database_size(current_database())")


def ends_table(ends: Ends, options: Options) -> str:
    """Is anything lost or doubled?"""
    headers = ("submissions", "stored", "runs", "accepted", "gave up", "lost", "doubled", "again")
    figures = (ends.runs, ends.accepted, ends.gave_up, ends.lost, ends.doubled, ends.again)
    row = [str(each) for each in (options.submissions, ends.submissions, *figures)]
    return table(headers, [row], right=headers)


def waits_tables(ends: Ends) -> str:
    """Who waits how long, in simulated seconds until the first claim."""
    right = ("authors", "median s", "p95 s", "longest s", "Gini")
    by_author = table(("authors who submitted", *right), fairness_rows(ends), right=right)
    devices = [
        [
            each.name,
            str(len(waits)),
            f"{quantile(waits, 0.5):.1f}",
            f"{quantile(waits, 0.95):.1f}",
        ]
        for each in SCHEDULERS
        if (waits := ends.waits_by_device.get(each.device))
    ]
    columns = ("runs", "median s", "p95 s")
    return f"{by_author}\n\n{table(('scheduler', *columns), devices, right=columns)}"


def load_table(load: Load, runs: int) -> str:
    """What it cost."""
    mb = 1e6
    rows = [
        _cost("submitting", load.sender_s, load, runs),
        _cost("workers", load.worker_s, load, runs),
        _cost("Postgres", load.postgres_s, load, runs),
    ]
    right = ("s", "of a core", "ms a run")
    median, p95 = median_and_p95_ms(load.submit_s)
    facts = [
        ["seconds", f"{load.seconds:.0f}"],
        ["runs a second", f"{runs / load.seconds:.1f}"],
        ["transactions a second", f"{load.transactions / load.seconds:.0f}"],
        ["transactions a run", f"{load.transactions / runs:.1f}"],
        ["log a run, kB", f"{load.wal_bytes / runs / 1e3:.1f}"],
        ["database, MB", f"{load.database_bytes / mb:.0f}"],
        ["largest worker, MB", f"{load.worker_bytes / mb:.0f}"],
        ["most in flight", str(load.most_in_flight)],
        ["most waiting", str(load.most_waiting)],
        ["submit, median ms", median],
        ["submit, p95 ms", p95],
        ["sent again", str(load.refused)],
        ["sent late by, s", f"{max(load.behind_s, 0):.1f}"],
    ]
    costs = table(("processor time of", *right), rows, right=right)
    return f"{costs}\n\n{table(('', 'figure'), facts, right=('figure',))}"


def _cost(name: str, used_s: float, load: Load, runs: int) -> list[str]:
    return [
        name,
        f"{used_s:.0f}",
        f"{100 * used_s / load.seconds:.0f} %",
        f"{1e3 * used_s / runs:.2f}",
    ]


def parsed(arguments: Sequence[str]) -> Options:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    usual = Options()
    for name in ("authors", "submissions", "workers", "kills", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(usual, name))
    for name in ("speed", "rate", "load"):
        parser.add_argument(f"--{name}", type=float, default=getattr(usual, name))
    return Options(**vars(parser.parse_args(arguments)))


def main() -> int:
    """Print the tables."""
    options = parsed(sys.argv[1:])
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with (
        tempfile.TemporaryDirectory(prefix="kernelbot-sim-") as name,
        running_postgres(Path(name) / "postgres") as postgres,
    ):
        migrate(postgres.url)
        load = asyncio.run(simulate(postgres.url, Path(name), options, postgres.pid))
        ends = read_ends(postgres.url, options.speed)
    print(f"{options}, slots {options.slots()}:\n")
    print(ends_table(ends, options), waits_tables(ends), load_table(load, ends.runs), sep="\n\n")
    whole = ends.submissions >= options.submissions and not ends.lost
    return int(not whole or ends.doubled > 0)


if __name__ == "__main__":
    sys.exit(main())
