"""A database as one file, and back, with the bundled Postgres' own pg_dump and pg_restore."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

from kernelbot.domain.errors import UserError
from kernelbot.platform.store import mark
from kernelbot.store.bundled import program
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import migrate
from kernelbot.store.owner import APP_ROLE
from kernelbot.store.shape import has_table

_DRAFT, _OLD = "kernelbot_restoring", "kernelbot_replaced"
_MAINTENANCE = "template1"


def dump(url: str, file: Path) -> int:
    """Write everything, as of one moment, to `file`, which only this account can read; returns its
    size in bytes. Others may write meanwhile. Blocks. Raises `Unavailable`, `UserError`.
    """
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)  # of one that was killed, with the number that is ours now
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            command = [program("pg_dump"), "--format=custom", "--no-owner", f"--file={draft}", url]
            _run(command, "The backup could not be made")
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
        return file.stat().st_size
    except OSError as error:
        raise UserError(f"{file} can't be written: {error.strerror}.") from None


def keep_dump(url: str, folder: Path, count: int) -> Path:
    """Write everything to a file in `folder` that is named by the time, and delete all but the
    latest `count` of those, and what was left of ones that were killed. Blocks. Nobody else may
    write to the folder meanwhile. Raises as `dump`."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in folder.glob(".*.dump.*"):
            left.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{folder} can't be used: {error.strerror}.") from None
    file = folder / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%fZ}.dump"
    dump(url, file)
    for old in sorted(folder.glob("*.dump"))[:-count]:
        old.unlink(missing_ok=True)
    return file


def holds_data(url: str) -> bool:
    """Whether the database has a schema with at least one account."""
    with psycopg.connect(url, autocommit=True) as connection:
        if not has_table(connection, "users"):
            return False
        row = connection.execute("SELECT EXISTS (SELECT 1 FROM users)").fetchone()
        return bool(row and row[0])


def restore(postgres: EmbeddedPostgres, database: str, file: Path) -> list[str]:
    """Replace `database` by the backup, migrated to this release's schema; returns the migrations
    that were applied. It is marked as a copy. Blocks. Nobody else may be connected.

    The backup is restored under another name and then renamed in one step, so if anything goes
    wrong the database stays as it was. Raises `UserError` for what isn't a backup,
    `SchemaOutdated` for one of a newer release, `Unavailable`.
    """
    if not file.is_file():
        raise UserError(f"There is no file {file}.")
    with psycopg.connect(postgres.admin_url(_MAINTENANCE), autocommit=True) as server:
        with _draft(server):
            command = [
                program("pg_restore"),
                "--exit-on-error",
                "--no-owner",
                "--single-transaction",
            ]
            _run(
                [*command, f"--dbname={postgres.url(_DRAFT)}", str(file)],
                f"{file} could not be restored",
            )
            applied = migrate(postgres.url(_DRAFT), finish=True)
            mark(postgres.url(_DRAFT), is_copy=True)
            with server.transaction():
                _rename(server, database, _OLD)
                _rename(server, _DRAFT, database)
        _drop(server, _OLD)
    return applied


@contextmanager
def _draft(server: psycopg.Connection) -> Iterator[None]:
    _drop(server, _DRAFT)
    _drop(server, _OLD)
    server.execute(
        SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0").format(
            Identifier(_DRAFT), Identifier(APP_ROLE)
        )
    )
    try:
        yield
    except BaseException:
        _drop(server, _DRAFT)
        raise


def _rename(server: psycopg.Connection, old: str, new: str) -> None:
    server.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(Identifier(old), Identifier(new)))


def _drop(server: psycopg.Connection, database: LiteralString) -> None:
    server.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(database)))


def _run(command: list[str], trouble: str) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise UserError(f"{trouble}: {lines[0]}")
