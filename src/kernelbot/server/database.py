"""`kernelbot db migrate`, and the database that `serve` uses."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog

from kernelbot.domain.errors import Conflict, PlatformError, Unavailable, UserError
from kernelbot.launchers.lockfile import LockFile
from kernelbot.server.settings import Settings, read_settings
from kernelbot.store import migrate
from kernelbot.store.backup import keep_dump
from kernelbot.store.embedded import EmbeddedPostgres

_POLL_S = 0.5
_KEPT_DUMPS = 3
_LOCK_TRIES, _LOCK_PAUSE_S = 3, 0.02
log = structlog.get_logger()


@dataclass(frozen=True)
class Migrated:
    """What was applied; where everything was kept before, None: it wasn't; and whether nothing is
    left that only the release before needs."""

    applied: tuple[str, ...]
    kept: Path | None
    finished: bool


def migrate_database(*, data: Path | None = None, finish: bool = False) -> Migrated:
    """Migrate the configured database to this release's schema. Blocks.

    Servers of the release before work on; with `finish` none may run any more, and what only they
    needed goes. Without DATABASE_URL it is the embedded one, which must not be in use, and is
    finished at once.

    Raises `SchemaOutdated` for a database of a newer release or another line, `Conflict` if
    another release uses what goes, `PlatformError` if a migration fails, `Unavailable`. Then
    nothing was changed.
    """
    settings = read_settings(data=data)
    if (url := settings.external_database_url()) is not None:
        applied = migrate.migrate(url, finish=finish)
        return Migrated(tuple(applied), None, migrate.is_finished(url))
    with locked_data(settings), embedded(settings) as postgres:
        return _migrate_embedded(settings, postgres.url("postgres"))


def _migrate_embedded(settings: Settings, url: str) -> Migrated:
    kept: list[Path] = []
    folder = settings.data / "before-migrations"

    def keep() -> None:
        try:
            kept.append(keep_dump(url, folder, _KEPT_DUMPS))
        except UserError as error:
            raise PlatformError(
                "The database must be migrated for this release, and wasn't, because a backup of "
                f"it can't be kept first. {error}",
                hint=f"Make room in {folder} and start again. Nothing was changed.",
            ) from error

    applied = migrate.migrate(url, finish=True, before=keep)
    return Migrated(tuple(applied), kept[-1] if kept else None, finished=True)


@contextlib.contextmanager
def locked_data(settings: Settings) -> Iterator[None]:
    """Lock the data folder for this process. Raises `Conflict` if another one serves from it."""
    path = settings.data / "serve.lock"
    lock = LockFile.acquire(path)
    for _ in range(_LOCK_TRIES):
        if lock is not None:
            break
        time.sleep(_LOCK_PAUSE_S)  # a client that looks whether it is locked has it for a moment
        lock = LockFile.acquire(path)
    if lock is None:
        raise Conflict(
            f"Another kernelbot is running on {settings.data} ({path.read_text() or 'unknown'}).",
            hint="Stop that one, or choose another folder with --data.",
        )
    try:
        lock.note(f"process {os.getpid()}")
        yield
    finally:
        lock.release()


@dataclass(frozen=True)
class ReadyDatabase:
    """A database with the right schema. `postgres` None: it isn't ours to keep alive."""

    url: str
    postgres: EmbeddedPostgres | None


@contextlib.contextmanager
def ready_database(settings: Settings) -> Iterator[ReadyDatabase]:
    """The configured database, or the embedded one, started and migrated, while the block runs.

    Raises as `migrate_database`.
    """
    if (url := settings.external_database_url()) is not None:
        migrate.check_schema(url)
        yield ReadyDatabase(url, None)
        return
    with embedded(settings) as postgres:
        url = postgres.url("postgres")
        migrated = _migrate_embedded(settings, url)
        if migrated.kept is not None:
            log.info("migrated", applied=migrated.applied, backup_of_before=str(migrated.kept))
        yield ReadyDatabase(url, postgres)


@contextlib.asynccontextmanager
async def restart_if_dead(database: ReadyDatabase) -> AsyncIterator[None]:
    """While the block runs, start an embedded server again if it dies."""
    task = asyncio.create_task(_keep_alive(database.postgres), name="keep Postgres alive")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _keep_alive(postgres: EmbeddedPostgres | None) -> None:
    while postgres is not None:
        await asyncio.sleep(_POLL_S)
        try:
            if await asyncio.to_thread(postgres.revive):
                log.error("postgres_had_died")
        except Unavailable as error:
            log.error("postgres_is_down", error=str(error))


@contextlib.contextmanager
def embedded(settings: Settings) -> Iterator[EmbeddedPostgres]:
    """The embedded server, started, while the block runs. Use it within `locked_data`."""
    postgres = EmbeddedPostgres(settings.data / "postgres")
    try:
        postgres.start()
        yield postgres
    finally:
        postgres.stop()
