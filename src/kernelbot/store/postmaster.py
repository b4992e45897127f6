"""Which server runs on a Postgres folder, according to postmaster.pid and the process list."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

_PROC = Path("/proc")
_STATUS_LINE = 7
"""The line of postmaster.pid that has it, counted from 0."""
_SERVER = frozenset({"postgres"})
_ANY = frozenset({"postgres", "initdb"})
_POLL_S = 0.1
_PATIENCE_S = 30.0
"""How long a server may take for an orderly end, before it must end at once."""


def running(folder: Path) -> int | None:
    """The process number of the server on this folder; None: there is none."""
    pid = _noted(folder)
    return pid if pid is not None and serves(pid, folder) else None


def serves(pid: int, folder: Path, programs: frozenset[str] = _SERVER) -> bool:
    """Whether the process is a Postgres on this folder, or another of `programs` in it. Process
    ids are reused, so the one that a dead server left in its file may now be another process.

    The program and its working directory decide. Its start time isn't compared: clocks change,
    and a Postgres that works in this folder is its server.
    """
    if not alive(pid):
        return False
    if not _PROC.is_dir():
        return True  # no way to check more: the process id decides
    try:
        name = (_PROC / str(pid) / "exe").readlink().name
        works_in, here = (_PROC / str(pid) / "cwd").stat(), folder.stat()
    except OSError:
        return False  # of another account, so it can't be the one that we started
    # A program that was replaced meanwhile is shown as "postgres (deleted)".
    same_folder = (works_in.st_dev, works_in.st_ino) == (here.st_dev, here.st_ino)
    return name.split(" ")[0] in programs and same_folder


def alive(pid: int) -> bool:
    """Whether the process exists and isn't a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        words = (_PROC / str(pid) / "stat").read_bytes()  # with a name, which may be no text
    except OSError:
        return True  # no /proc here: the signal's answer decides
    return words.rpartition(b")")[2].split()[0] != b"Z"


def stop_left(folder: Path) -> None:
    """End the server that an earlier process left running on the folder, if there is one, and
    wait for its end. Blocks. Never signals any other process. Raises `TimeoutError`."""
    pid = running(folder)
    if pid is None:
        return
    with contextlib.suppress(ProcessLookupError):
        for number in (signal.SIGINT, signal.SIGQUIT):
            _signal(pid, folder, number)
            if _gone(pid, folder, _PATIENCE_S):
                return
        raise TimeoutError(f"The server left running in {folder} (process {pid}) doesn't end.")


def forget_dead(folder: Path) -> None:
    """Remove the lock files that a dead server left. Postgres does so itself, except if the process
    id now belongs to a zombie or to another process."""
    if running(folder) is None:
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (folder / name).unlink(missing_ok=True)


def await_orphans(folder: Path) -> None:
    """Wait for the end of the processes that a dead server, or a start that was killed, had in the
    folder. Until a server's notice its end they have its memory, and no other server starts on the
    folder; those of a start fill it. Blocks. Raises `TimeoutError`."""
    give_up = time.monotonic() + _PATIENCE_S
    while left := [pid for pid in _pids() if serves(pid, folder, _ANY)]:
        if time.monotonic() > give_up:
            numbers = ", ".join(map(str, left))
            raise TimeoutError(f"Processes of a dead server in {folder} don't end: {numbers}.")
        time.sleep(_POLL_S)


def _pids() -> list[int]:
    """All processes; none if the system doesn't list them."""
    if not _PROC.is_dir():
        return []
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal()]


def await_ready(
    pid_file: Path, within_s: float, started: subprocess.Popen[bytes] | None = None
) -> bool:
    """Wait for a server that is starting; False if it has ended or takes too long. `started` is
    the process that must write the file; None: any process. Blocks."""
    give_up = time.monotonic() + within_s
    while time.monotonic() < give_up:
        try:
            lines = pid_file.read_text().splitlines()
            pid = int(lines[0])
        except (OSError, ValueError, IndexError):
            lines, pid = [], os.getpid()  # not written yet
        if not alive(pid) or (started is not None and started.poll() is not None):
            return False
        if len(lines) > _STATUS_LINE and lines[_STATUS_LINE].strip() == "ready":
            return True
        time.sleep(_POLL_S)
    return False


def _noted(folder: Path) -> int | None:
    try:
        pid = int((folder / "postmaster.pid").read_text().splitlines()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pid if pid > 0 else None


def _signal(pid: int, folder: Path, number: signal.Signals) -> None:
    if not hasattr(os, "pidfd_open"):  # not Linux
        os.kill(pid, number)
        return
    held = os.pidfd_open(pid)
    try:
        if serves(pid, folder):  # checked now that its process id can't be reused
            signal.pidfd_send_signal(held, number)
    finally:
        os.close(held)


def _gone(pid: int, folder: Path, within_s: float) -> bool:
    give_up = time.monotonic() + within_s
    while serves(pid, folder):
        if time.monotonic() > give_up:
            return False
        time.sleep(_POLL_S)
    return True
