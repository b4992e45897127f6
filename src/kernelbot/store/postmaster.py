"""Who runs on a Postgres folder, as its postmaster.pid and the system's processes tell."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

_PROC = Path("/proc")
_STATUS_LINE = 7
"""Of postmaster.pid, counted from 0."""
_LOOK_AGAIN_S = 0.1
_PATIENCE_S = 30.0
"""How long a server may take to end in order, before it is to end at once."""


def running(folder: Path) -> int | None:
    """The process number of the server on this folder; None: there is none."""
    pid = _noted(folder)
    return pid if pid is not None and serves(pid, folder) else None


def serves(pid: int, folder: Path) -> bool:
    """Whether the process is a Postgres on this folder. Numbers are given out again, so the one
    that a dead server left in its file may be anybody's by now.

    The program and the folder it works in decide. When it began says nothing more: a Postgres that
    works in this very folder is its server since whenever, and clocks are set.
    """
    if not alive(pid):
        return False
    if not _PROC.is_dir():
        return True  # no way to look closer: then the number stands
    try:
        name = (_PROC / str(pid) / "exe").readlink().name
        works_in, here = (_PROC / str(pid) / "cwd").stat(), folder.stat()
    except OSError:
        return False  # another account's, so it can't be the one that we started
    # A program that was replaced meanwhile is shown as "postgres (deleted)".
    same_folder = (works_in.st_dev, works_in.st_ino) == (here.st_dev, here.st_ino)
    return name.split(" ")[0] == "postgres" and same_folder


def alive(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        words = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return True  # no /proc here: then the signal's answer stands
    return words.rpartition(")")[2].split()[0] != "Z"


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
        raise TimeoutError(f"The server that was left in {folder} (process {pid}) doesn't end.")


def forget_dead(folder: Path) -> None:
    """Remove the lock files that a dead server left. Postgres does so itself, except that it takes
    a zombie for alive, as well as whoever has the number by now."""
    if running(folder) is None:
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (folder / name).unlink(missing_ok=True)


def await_ready(
    pid_file: Path, within_s: float, started: subprocess.Popen[bytes] | None = None
) -> bool:
    """Wait for a server that is starting; False where it has ended or takes too long. `started`
    is the process that is to write the file; None: whoever did. Blocks."""
    give_up = time.monotonic() + within_s
    while time.monotonic() < give_up:
        try:
            lines = pid_file.read_text().splitlines()
            pid = int(lines[0])
        except (OSError, ValueError, IndexError):
            lines, pid = [], os.getpid()  # it hasn't got that far yet
        if not alive(pid) or (started is not None and started.poll() is not None):
            return False
        if len(lines) > _STATUS_LINE and lines[_STATUS_LINE].strip() == "ready":
            return True
        time.sleep(_LOOK_AGAIN_S)
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
        if serves(pid, folder):  # looked at now that its number can't change hands
            signal.pidfd_send_signal(held, number)
    finally:
        os.close(held)


def _gone(pid: int, folder: Path, within_s: float) -> bool:
    give_up = time.monotonic() + within_s
    while serves(pid, folder):
        if time.monotonic() > give_up:
            return False
        time.sleep(_LOOK_AGAIN_S)
    return True
