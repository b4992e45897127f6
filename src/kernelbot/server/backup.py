"""`kernelbot backup` and `kernelbot restore`, for the embedded database."""

import contextlib
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernelbot.domain.errors import Conflict, UserError
from kernelbot.server.database import embedded, locked_data
from kernelbot.server.settings import Settings, read_settings
from kernelbot.store.backup import dump, holds_data
from kernelbot.store.backup import restore as put_back
from kernelbot.store.embedded import EmbeddedPostgres

_DATABASE = "postgres"


@dataclass(frozen=True)
class BackedUp:
    """The folder whose database was backed up, and the file's size."""

    data: Path
    size_bytes: int


@dataclass(frozen=True)
class Restored:
    """The folder that was restored into, and the migrations that were applied."""

    data: Path
    applied: tuple[str, ...]


def backup(file: Path, *, data: Path | None = None, force: bool = False) -> BackedUp:
    """Write the database to `file`. `data` None: the configured folder. Blocks.

    Raises `Conflict` when the file is there and `force` isn't set, `UserError` when there is no
    embedded database or the file can't be written, `Unavailable`.
    """
    settings = _embedded_settings(data, "pg_dump")
    if file.exists() and not force:
        raise Conflict(f"{file} already exists.", hint="Name another file, or use --force.")
    with running_database(settings) as url:
        return BackedUp(settings.data, dump(url, file))


def restore(file: Path, *, data: Path | None = None, force: bool = False) -> Restored:
    """Replace the database by a backup. `data` None: the configured folder. Blocks.

    Raises `Conflict` when a server runs on the data, or when there is some and `force` isn't set;
    else as `store.backup.restore`.
    """
    settings = _embedded_settings(data, "pg_restore")
    if not file.is_file():
        raise UserError(f"There is no file {file}.")
    settings.data.mkdir(parents=True, exist_ok=True)
    with locked_data(settings), embedded(settings) as postgres:
        if not force and holds_data(postgres.url(_DATABASE)):
            raise Conflict(
                f"There is data in {settings.data} already.",
                hint="To keep it first: kernelbot backup FILE --data "
                f"{shlex.quote(str(settings.data))}. Then --force replaces it.",
            )
        return Restored(settings.data, tuple(put_back(postgres, _DATABASE, file)))


@contextlib.contextmanager
def running_database(settings: Settings) -> Iterator[str]:
    """The embedded database's URL: of a server that already runs, else of one started for this.
    Raises `UserError` if there is no database, `Conflict`, `Unavailable`."""
    postgres = EmbeddedPostgres(settings.data / "postgres")
    if not (postgres.folder / "PG_VERSION").exists():
        raise UserError(f"There is no database in {settings.data}.", hint="Name it with --data.")
    url = postgres.running_url(_DATABASE)
    if url is not None:
        yield url
        return
    with locked_data(settings), embedded(settings) as started:
        yield started.url(_DATABASE)


def _embedded_settings(data: Path | None, tool: str) -> Settings:
    settings = read_settings(data=data)
    if settings.external_database_url() is not None:
        raise UserError(
            "This is for the embedded database, and DATABASE_URL names another one.",
            hint=f"Use Postgres' own {tool} for that.",
        )
    return settings
