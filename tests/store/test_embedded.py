"""The embedded server beside other accounts' files."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
import psycopg
from kernelbot.store.embedded import EmbeddedPostgres

postgres = EmbeddedPostgres(Path(sys.argv[1]))
postgres.start()
with psycopg.connect(postgres.url("postgres")) as connection:
    print(connection.execute("SELECT 7").fetchone()[0])
postgres.stop()
print((postgres.folder / "postmaster.pid").exists())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not under pytest's own: Postgres runs as another user when we are root."""
    path = Path(tempfile.mkdtemp(prefix="kb-embedded-"))
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("runtime", [None, "of-another-account", "missing"])
def test_another_accounts_lock_file_in_the_temporary_folder_is_nothing_to_us(
    folder: Path, runtime: str | None
) -> None:
    temporary = folder / "tmp"
    # A folder can't be opened as a file, not even by root: as foreign as another account's file.
    (temporary / ".lockfile").mkdir(parents=True)
    environment = {name: os.environ[name] for name in os.environ if name != "XDG_RUNTIME_DIR"}
    environment |= {"TMPDIR": str(temporary)}
    if runtime is not None:
        environment["XDG_RUNTIME_DIR"] = str(folder / runtime)
    if runtime == "of-another-account" and os.getuid() == 0:
        (folder / runtime).mkdir()
        os.chown(folder / runtime, 65534, 65534)
    answered = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "data" / "postgres")],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "" == answered.stderr
    assert "7\nFalse\n" == answered.stdout
