"""Postgres servers and databases of the benchmarks' own."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

from kernelbot.store.code import using
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import migrate
from kernelbot.store.schema import this_code


@dataclass(frozen=True)
class RunningPostgres:
    """An embedded server. `url`: as the platform uses it; `admin_url`: as the superuser, who can
    make data without triggers; `pid`: of the process at its head."""

    url: str
    admin_url: str
    pid: int


@contextlib.contextmanager
def running_postgres(folder: Path) -> Iterator[RunningPostgres]:
    """A server with its data in `folder`, stopped behind the block."""
    postgres = EmbeddedPostgres(folder)
    url = postgres.start()
    try:
        pid = int((folder / "postmaster.pid").read_text().split()[0])
        yield RunningPostgres(url, postgres.admin_url("postgres"), pid)
    finally:
        postgres.stop()


@contextlib.contextmanager
def database(folder: Path) -> Iterator[psycopg.Connection]:
    """A connection to an empty database in this folder, which is stopped behind the block."""
    with running_postgres(folder / "postgres") as postgres:
        migrate(postgres.admin_url)
        with psycopg.connect(postgres.admin_url, autocommit=True) as connection:
            connection.execute(*using(this_code()))
            yield connection
