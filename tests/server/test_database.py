"""What `serve` and `db migrate` do with an older embedded database."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from kernelbot.domain.errors import PlatformError, SchemaOutdated
from kernelbot.server.backup import restore
from kernelbot.server.database import migrate_database, ready_database
from kernelbot.server.settings import read_settings
from kernelbot.store.bundled import program
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import check_schema
from tests.support.postgres import objects

_PREVIOUS = Path(__file__).parents[1] / "store" / "previous" / "0.1.0.sql"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder of the release before, with its server stopped."""
    data = tmp_path_factory.mktemp("older") / "data"
    with running(data) as postgres, psycopg.connect(postgres.url("postgres")) as connection:
        connection.execute(_PREVIOUS.read_text().encode())
    return data


@pytest.fixture
def older(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    subprocess.run(["cp", "-a", str(made), str(tmp_path / "data")], check=True)
    return tmp_path / "data"


@contextmanager
def running(data: Path) -> Iterator[EmbeddedPostgres]:
    postgres = EmbeddedPostgres(data / "postgres")
    try:
        postgres.start()
        yield postgres
    finally:
        postgres.stop()


def objects_of(data: Path) -> set[tuple[str, ...]]:
    with running(data) as postgres:
        return objects(postgres.url("postgres"))


# Each run has test_another_line_is_refused_and_unharmed (test_previous.py)
@pytest.mark.exhaustive
def test_serving_keeps_what_was_before_and_migrates(
    older: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = older / "before-migrations"
    folder.mkdir()
    for name in ("2001.dump", "2002.dump", "2003.dump"):
        (folder / name).write_text("an earlier one")
    with ready_database(read_settings(data=older)) as database:
        check_schema(database.url)
    *earlier, kept = sorted(folder.iterdir())
    shown = subprocess.run(
        [program("pg_restore"), "--list", str(kept)], capture_output=True, text=True, check=True
    )
    logged = capsys.readouterr().out
    assert ["2002.dump", "2003.dump"] == [file.name for file in earlier]
    assert ("_yoyo_log" in shown.stdout, "webhooks" in shown.stdout) == (True, False)
    assert ("migrated" in logged, str(kept) in logged) == (True, True)
    # And it is a backup as any other.
    assert "0010.duels" in restore(kept, data=older.with_name("again")).applied


# Each run has test_another_line_is_refused_and_unharmed (store/test_previous.py)
@pytest.mark.exhaustive
def test_without_a_place_for_the_backup_nothing_is_migrated(older: Path) -> None:
    before = objects_of(older)
    (older / "before-migrations").write_text("in the way")
    with pytest.raises(PlatformError, match=r"wasn't, because a backup.*File exists") as caught:
        migrate_database(data=older)
    assert before == objects_of(older)
    assert "Make room" in (caught.value.hint or "")


@pytest.mark.exhaustive  # each run has test_another_line_is_refused_and_unharmed (test_previous.py)
def test_another_line_is_refused_without_a_backup(older: Path) -> None:
    with running(older) as postgres, psycopg.connect(postgres.url("postgres")) as connection:
        connection.execute("ALTER TABLE users ADD COLUMN of_a_fork text")
    with pytest.raises(SchemaOutdated, match="another line"):
        migrate_database(data=older)
    assert not (older / "before-migrations").exists()
