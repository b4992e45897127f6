import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from kernelbot.domain.errors import Conflict, KernelbotError, SchemaOutdated, UserError
from kernelbot.server.backup import backup, restore
from kernelbot.server.copies import set_copy
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import migrate
from tests.support.exhaustive import cases


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that each test has a copy of, since making one takes seconds."""
    data = tmp_path_factory.mktemp("made") / "data"
    with running(data) as url:
        migrate(url)
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO users (name) VALUES ('ada')")
    return data


@pytest.fixture
def stopped(made: Path, tmp_path: Path) -> Path:
    """A data folder with a migrated database and one user; no server runs on it."""
    keeping_owners = ["cp", "--archive", str(made), str(tmp_path / "data")]
    subprocess.run(keeping_owners, check=True)
    return tmp_path / "data"


@contextmanager
def running(data: Path) -> Iterator[str]:
    postgres = EmbeddedPostgres(data / "postgres")
    try:
        yield postgres.start()
    finally:
        postgres.stop()


def is_copy(data: Path) -> bool:
    with running(data) as url, psycopg.connect(url) as connection:
        return connection.execute("SELECT is_copy FROM platform").fetchone() == (True,)


def users(data: Path) -> list[str]:
    with running(data) as url, psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("SELECT name FROM users ORDER BY id")]


def change(data: Path, statement: LiteralString) -> None:
    with running(data) as url, psycopg.connect(url) as connection:
        connection.execute(statement)


def test_a_backup_comes_back_elsewhere(stopped: Path, tmp_path: Path) -> None:
    kept = backup(tmp_path / "x.dump", data=stopped)
    back = restore(tmp_path / "x.dump", data=tmp_path / "other")
    file = (tmp_path / "x.dump").stat()
    assert (stopped, file.st_size, 0o600) == (
        kept.data,
        kept.size_bytes,
        stat.S_IMODE(file.st_mode),
    )
    assert (tmp_path / "other", (), ["ada"]) == (
        back.data,
        back.applied,
        users(tmp_path / "other"),
    )


@pytest.mark.exhaustive  # each run has test_a_backup_comes_back_elsewhere
def test_what_is_restored_is_a_copy_until_it_is_activated(stopped: Path, tmp_path: Path) -> None:
    backup(tmp_path / "x.dump", data=stopped)
    restore(tmp_path / "x.dump", data=tmp_path / "other")
    restored = is_copy(tmp_path / "other")
    with running(tmp_path / "other"):  # as while a server runs
        set_copy(is_copy=False, data=tmp_path / "other")
    assert (True, False) == (restored, is_copy(tmp_path / "other"))


@pytest.mark.exhaustive
def test_a_backup_is_made_while_the_server_runs(stopped: Path, tmp_path: Path) -> None:
    with running(stopped) as url:
        backup(tmp_path / "x.dump", data=stopped)
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO users (name) VALUES ('eve')")
    restore(tmp_path / "x.dump", data=tmp_path / "other")
    assert (["ada"], ["ada", "eve"]) == (users(tmp_path / "other"), users(stopped))


@pytest.mark.exhaustive
def test_what_is_there_is_replaced_by_force_only(stopped: Path, tmp_path: Path) -> None:
    backup(tmp_path / "x.dump", data=stopped)
    change(stopped, "INSERT INTO users (name) VALUES ('eve')")
    with pytest.raises(Conflict):
        restore(tmp_path / "x.dump", data=stopped)
    kept = users(stopped)
    restore(tmp_path / "x.dump", data=stopped, force=True)
    assert (["ada", "eve"], ["ada"]) == (kept, users(stopped))


@pytest.mark.exhaustive
def test_a_backup_of_a_newer_release_changes_nothing(stopped: Path, tmp_path: Path) -> None:
    change(
        stopped,
        "INSERT INTO _yoyo_migration (migration_hash, migration_id, applied_at_utc)"
        " VALUES ('ff', '9999.future', now())",
    )
    backup(tmp_path / "x.dump", data=stopped)
    change(stopped, "INSERT INTO users (name) VALUES ('eve')")
    with pytest.raises(SchemaOutdated):
        restore(tmp_path / "x.dump", data=stopped, force=True)
    assert ["ada", "eve"] == users(stopped)


TRUNCATED = b"PGDMP\x01\x02"


@pytest.mark.exhaustive  # each run has test_a_backup_comes_back_elsewhere
@pytest.mark.parametrize("content", cases([b"", b"nonsense", TRUNCATED], always=[TRUNCATED]))
def test_what_is_no_backup_changes_nothing(stopped: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.dump").write_bytes(content)
    with pytest.raises(UserError, match="could not be restored"):
        restore(tmp_path / "x.dump", data=stopped, force=True)
    assert ["ada"] == users(stopped)


def test_a_file_is_replaced_by_force_only(stopped: Path, tmp_path: Path) -> None:
    (tmp_path / "x.dump").write_bytes(b"mine")
    with pytest.raises(Conflict):
        backup(tmp_path / "x.dump", data=stopped)
    assert b"mine" == (tmp_path / "x.dump").read_bytes()


@pytest.mark.parametrize("file", ["none.dump", "."])
def test_a_file_that_is_not_there(tmp_path: Path, file: str) -> None:
    with pytest.raises(UserError):
        restore(tmp_path / file, data=tmp_path / "data")


def test_a_backup_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no database"):
        backup(tmp_path / "x.dump", data=tmp_path / "none")


@pytest.mark.exhaustive  # each run has test_a_backup_comes_back_elsewhere
def test_a_folder_that_is_not_there(stopped: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be written"):
        backup(tmp_path / "none" / "x.dump", data=stopped)


def test_other_databases_have_their_own_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://example.org/x")
    with pytest.raises(KernelbotError, match="embedded"):
        backup(tmp_path / "x.dump")
