"""The folder that only this user can enter: sockets and logs of warm judges, and the turn."""

import contextlib
import fcntl
import os
import socket
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

from kernelbot.protocol.late import dataclass

_CREDENTIALS = struct.Struct("3i")
_LOCK = "folder.lock"


class NotOurs(Exception):
    """A folder or socket that isn't this user's alone: another account made it or could enter it,
    or it can't be made. The text says what to do."""


@dataclass(frozen=True)
class PrivateFolder:
    """An open folder of this user's with mode 0700. Names in it are reached through its
    descriptor: it is the folder that was examined, and a socket's path is never too long."""

    path: Path
    descriptor: int

    @classmethod
    def open(cls, path: Path, *, parents: bool = False) -> "PrivateFolder":
        """Open it, made if there is none, and with `parents` those above it. Raises `NotOurs`."""
        try:
            if parents:
                path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o700)
        except OSError as error:
            raise NotOurs(f"{path} can't be made: {error.strerror}.") from None
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise NotOurs(f"{path} isn't a folder that we can enter ({error.strerror}).") from None
        found = os.fstat(descriptor)
        if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077 == 0:
            return cls(path, descriptor)
        os.close(descriptor)
        if found.st_uid != os.geteuid():
            raise NotOurs(f"{path} belongs to another account (user {found.st_uid}).")
        raise NotOurs(f"Other accounts can enter {path}: make it yours alone by chmod 700.")

    def at(self, name: str) -> Path:
        """The path of a file in it, for this process alone."""
        return self._itself / name

    def names(self) -> list[str]:
        """The names of all files in it."""
        return [path.name for path in self._itself.iterdir()]

    def write(self, name: str, content: bytes) -> None:
        """Write a file, which is there in full or as it was before."""
        partial = self.at(f"{name}.{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(self.at(name))

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        self.at(name).unlink(missing_ok=True)

    @property
    def _itself(self) -> Path:
        return Path("/proc/self/fd", str(self.descriptor))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """While sockets are put in their places and taken away: one process at a time."""
        lock = self.open_lock(_LOCK)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def open_lock(self, name: str) -> int:
        """A file's descriptor to lock; the file stays."""
        return os.open(self.at(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def close(self) -> None:
        """Close the folder: its names can't be used any more."""
        os.close(self.descriptor)


def default_folder() -> Path:
    """Below XDG_RUNTIME_DIR, which a login has for itself; else below /tmp."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if Path(runtime).is_absolute() and os.access(runtime, os.W_OK | os.X_OK):
        return Path(runtime, "kernelbot")
    return Path("/tmp", f"kernelbot-{os.geteuid()}")  # noqa: S108 (it is examined when opened)


def peer_pid(connection: socket.socket) -> int:
    """The process at the other end. Raises `NotOurs` if it is another account's."""
    size = _CREDENTIALS.size
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, uid, _gid = _CREDENTIALS.unpack(found)
    if uid != os.geteuid():
        raise NotOurs(f"The process at the other end belongs to another account (user {uid}).")
    return int(pid)
