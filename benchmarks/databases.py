"""A platform's database for benchmarks that ask it alone."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psycopg

from kernelbot.store.code import using
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import migrate
from kernelbot.store.schema import this_code


@contextlib.contextmanager
def database(folder: Path) -> Iterator[psycopg.Connection]:
    """A connection to an empty database in this folder, which is stopped behind the block."""
    postgres = EmbeddedPostgres(folder / "postgres")
    postgres.start()
    try:
        url = postgres.admin_url("postgres")
        migrate(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(*using(this_code()))
            yield connection
    finally:
        postgres.stop()
