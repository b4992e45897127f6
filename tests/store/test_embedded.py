"""The embedded server beside other accounts' files."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.store.embedded import await_ready

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


def pid_file(folder: Path, pid: int, status: str) -> Path:
    """As a server writes it: its number, its folder, when it began, port, sockets and so on."""
    file = folder / "postmaster.pid"
    file.write_text(f"{pid}\n/data\n1763730000\n5432\n/sockets\n\n 1 2\n{status}\n")
    return file


def test_a_server_that_starts_slowly_is_waited_for(tmp_path: Path) -> None:
    file = pid_file(tmp_path, os.getpid(), "starting")
    later = threading.Timer(0.2, pid_file, (tmp_path, os.getpid(), "ready   "))
    later.start()
    assert await_ready(file, within_s=30)
    later.join()


def test_a_server_that_never_gets_ready_is_given_up(tmp_path: Path) -> None:
    assert not await_ready(pid_file(tmp_path, os.getpid(), "starting"), within_s=0.2)


def test_a_server_that_ends_while_it_starts_is_not_waited_for(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert not await_ready(pid_file(tmp_path, ended.pid, "starting"), within_s=30)
