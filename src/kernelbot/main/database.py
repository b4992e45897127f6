"""`kernelbot db migrate`, and the database that `serve` stands on."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from kernelbot.domain.errors import Conflict
from kernelbot.launchers.lockfile import LockFile
from kernelbot.main.settings import Settings, read_settings
from kernelbot.store import migrate
from kernelbot.store.embedded import EmbeddedPostgres


def migrate_database(*, data: Path | None = None) -> list[str]:
    """Bring the configured database to this release's schema; returns what was applied.

    Blocks. Without DATABASE_URL it is the embedded one, which must not be in use.
    """
    settings = read_settings(data=data)
    if (url := settings.external_database_url()) is not None:
        return migrate.migrate(url)
    with locked_data(settings), _embedded(settings) as url:
        return migrate.migrate(url)


@contextlib.contextmanager
def locked_data(settings: Settings) -> Iterator[None]:
    """The data folder for this process alone. Raises `Conflict` when another serves from it."""
    path = settings.data / "serve.lock"
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


@contextlib.contextmanager
def ready_database(settings: Settings) -> Iterator[str]:
    """The URL of a database with the right schema: the configured one, or the embedded one,
    started and migrated for the time being. Raises `SchemaOutdated`, `Unavailable`."""
    if (url := settings.external_database_url()) is not None:
        migrate.check_schema(url)
        yield url
        return
    with _embedded(settings) as url:
        migrate.migrate(url)
        yield url


@contextlib.contextmanager
def _embedded(settings: Settings) -> Iterator[str]:
    postgres = EmbeddedPostgres(settings.data / "postgres")
    try:
        yield postgres.start()
    finally:
        postgres.stop()
