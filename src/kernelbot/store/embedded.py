"""The embedded Postgres: a real server in a folder of ours, for laptops and tests."""

import contextlib
import errno
import hashlib
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from kernelbot.domain.errors import Unavailable
from kernelbot.protocol.os_errors import in_words
from kernelbot.store import postmaster
from kernelbot.store.bundled import MAJOR_VERSION, Account, account_for, program, reachable_program
from kernelbot.store.owner import APP_ROLE, hand_over

_START_S = 120.0
"""On a busy machine, or after a crash with much to recover, a start takes long."""
_STOP_S = 60.0
_EMPTY_BYTES = 50 << 20
"""What an empty cluster takes, and a little more."""
_HERE = "/proc/self/cwd"
_PORT = "5432"
_SUPERUSER = "postgres"
_MAX_SOCKET_PATH_BYTES = 103
"""A length that all systems accept."""
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "TZ")
_LAST_WORDS = 300
_SPARED = ("-c", "io_method=sync", "-c", "max_logical_replication_workers=0")
"""Spares four processes that a database of this size has no use for: three that read for others,
and one that starts replication."""


class EmbeddedPostgres:
    """A Postgres server under a data folder. The caller makes sure that there is only one.

    The cluster's folder belongs to the account that the server runs as, and nobody else can enter
    it, because its socket is there; only the account we run as may connect. If we are root, the
    server runs as another account, which may be unable to reach the folder by its path: so it is
    started inside the folder and uses it as its working directory. No mode of a parent folder is
    changed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self._process: subprocess.Popen[bytes] | None = None
        self._runtime: Path | None = None

    def start(self) -> str:
        """Start it, creating the cluster first if there is none; returns its connection URL.

        A server that an earlier process left running on the folder is stopped first. Blocks for
        0.1 to 1 s, rarely for much longer. Raises `Unavailable` with the server's last log line.
        """
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            if not (self.folder / "PG_VERSION").exists():
                self._make_cluster()
            self._check_version()
            postmaster.stop_left(self.folder)
            self._socket_folder()
            self._run()
        except (subprocess.SubprocessError, OSError) as error:
            raise Unavailable(
                f"The embedded Postgres in {self.folder} did not start: {_error_text(error)}",
                hint=f"{self._where_to_look()} DATABASE_URL to a Postgres of your own.",
            ) from error
        self._make_role()
        return self.url("postgres")

    def revive(self) -> bool:
        """Start it again if it has died; returns whether it had. Blocks. Raises `Unavailable`."""
        assert self._process is not None, "start() first"
        try:
            self._socket_folder()  # its short name may have been tidied away
            if self._process.poll() is None:
                return False
            self._run()
        except (subprocess.SubprocessError, OSError) as error:
            raise Unavailable(
                "The embedded Postgres can't be reached, or did not start again: "
                f"{_error_text(error)}"
            ) from error
        return True

    def url(self, database: str) -> str:
        """The connection URL of a database on the running server (over its socket), for the role
        that owns our tables and may do nothing beyond them."""
        return self._url(APP_ROLE, database)

    def admin_url(self, database: str) -> str:
        """The same for the superuser, who makes databases and hands them over."""
        return self._url(_SUPERUSER, database)

    def running_url(self, database: str) -> str | None:
        """The superuser's connection URL of a server that another process runs here, which may be
        of a release without our role; None: there is none."""
        return None if postmaster.running(self.folder) is None else self.admin_url(database)

    def _url(self, role: str, database: str) -> str:
        where = f"host={quote(str(self._socket_folder()), safe='')}&port={_PORT}"
        return f"postgresql://{role}@/{quote(database)}?{where}"

    def stop(self) -> None:
        """Stop it and wait for its end. Idempotent."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
        self._process = None
        with contextlib.suppress(OSError):  # where it can't be made there is none to delete
            if (folder := self._socket_folder()) != self.folder:
                folder.unlink(missing_ok=True)

    def remove(self) -> None:
        """Stop it and delete the folder with all data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _where_to_look(self) -> str:
        log = self.folder / "log"
        return f"See {log}, or set" if log.exists() else "Or set"

    def _expect_room(self) -> None:
        """Raises `Unavailable` if the disk is full: initdb says only that a program crashed."""
        free = shutil.disk_usage(self.folder.parent).free
        if free < _EMPTY_BYTES:
            raise Unavailable(
                f"The disk is full: a database in {self.folder} takes {_EMPTY_BYTES >> 20} MB, and "
                f"{free >> 20} MB are free.",
                hint="Make room, or choose a folder on another disk.",
            )

    def _make_cluster(self) -> None:
        # Under another name first: a start that is killed leaves no incomplete cluster.
        draft = self.folder.with_name(self.folder.name + ".new")
        if draft.exists():
            postmaster.await_orphans(draft)
            shutil.rmtree(draft, ignore_errors=True)
        self._expect_room()
        draft.mkdir(mode=0o700)
        account = account_for(draft)
        if account is not None:
            os.chown(draft, account.uid, account.gid)
        options = ("--auth=peer", "--encoding=utf8", "-U", "postgres", "-D", self._name_of(draft))
        self._in_folder(draft, _program("initdb", account), *options)
        draft.rename(self.folder)

    def _check_version(self) -> None:
        version = (self.folder / "PG_VERSION").read_text().strip()
        if version != str(MAJOR_VERSION):
            raise Unavailable(
                f"The database in {self.folder} is of Postgres {version}, and this is "
                f"{MAJOR_VERSION}.",
                hint="Take a backup with the release that made it, and restore it with this one.",
            )

    def _run(self) -> None:
        postmaster.forget_dead(self.folder)
        postmaster.await_orphans(self.folder)
        self._admit_only_us()
        command = (
            *(_program("postgres", account_for(self.folder)), "-D", self._name_of(self.folder)),
            *("-h", "", "-p", _PORT),
            # Its working directory: the path may be too long for a socket, or not accessible.
            *("-k", ".", "-c", "unix_socket_permissions=0700"),
            *_SPARED,
        )
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", 'umask 077; exec "$@" >>log 2>&1', "sh", *command],
            stdin=subprocess.DEVNULL,
            # Ctrl-C goes to us only; we stop it in order.
            start_new_session=True,
            **self._as_its_account(self.folder),
        )
        if not postmaster.await_ready(self.folder / "postmaster.pid", _START_S, self._process):
            raise OSError(f"it ended or took longer than {_START_S:g} s; {self._last_words()}")

    def _admit_only_us(self) -> None:
        """Also if an earlier release created the cluster and let everybody connect."""
        name = pwd.getpwuid(os.geteuid()).pw_name.replace('"', '""')
        self._write("pg_hba.conf", "local all all peer map=kernelbot\n")
        roles = (_SUPERUSER, APP_ROLE)
        self._write("pg_ident.conf", "".join(f'kernelbot "{name}" {role}\n' for role in roles))

    def _make_role(self) -> None:
        """Also if an earlier release, in which the superuser did everything, made the database."""
        try:
            with psycopg.connect(self.admin_url("postgres"), autocommit=True) as connection:
                hand_over(connection)
        except psycopg.Error as error:
            raise Unavailable(
                f"The database in {self.folder} can't be handed over to its role: {error}",
                hint="Nothing was changed.",
            ) from error

    def _write(self, name: str, text: str) -> None:
        """Written as the folder's account: so a link in the folder can't redirect us."""
        self._in_folder(self.folder, "/bin/sh", "-c", f"umask 077; cat >{name}", text=text)

    def _in_folder(self, folder: Path, *command: str, text: str = "") -> None:
        subprocess.run(
            command,
            input=text.encode(),
            capture_output=True,
            check=True,
            timeout=_START_S,
            **self._as_its_account(folder),
        )

    def _as_its_account(self, folder: Path) -> dict[str, Any]:
        """How its programs are started: in the folder, entered before the account is changed, and
        without anything of our environment that could be a secret."""
        known = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        account = account_for(folder)
        if account is None:
            return {"cwd": folder, "env": known}
        whose = {"user": account.uid, "group": account.gid, "extra_groups": []}
        return {"cwd": folder, "env": known, **whose}

    def _name_of(self, folder: Path) -> str:
        """The path under which its programs, started in the folder, find it."""
        return str(folder) if account_for(folder) is None else _HERE

    def _last_words(self) -> str:
        try:
            lines = (self.folder / "log").read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f"its log ends with: {lines[-1][:_LAST_WORDS]}" if lines else "it logged nothing"

    def _socket_folder(self) -> Path:
        """The folder under a name that is short enough for a socket in it."""
        if _fits(self.folder):
            return self.folder
        if self._runtime is None or not _is_private(self._runtime):
            self._runtime = runtime_folder()
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        link = self._runtime / f"kernelbot-{digest}"
        if not (link.is_symlink() and link.readlink() == self.folder):
            draft = link.with_name(f"{link.name}.{os.getpid()}")
            draft.unlink(missing_ok=True)  # of one that was killed, with our number
            draft.symlink_to(self.folder)
            draft.rename(link)
        return link


def _program(name: str, account: Account | None) -> str:
    """The path under which the account finds it; None: ours."""
    return program(name) if account is None else reachable_program(name)


def runtime_folder() -> Path:
    """A folder with a short name that only this account can use."""
    given = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    usual = Path(tempfile.gettempdir()) / f"kernelbot-runtime-{os.getuid()}"
    # The first may be left over from another account, as `su` leaves it.
    if _is_private(given) and _fits(given / "kernelbot-0123456789abcdef"):
        return given
    usual.mkdir(mode=0o700, exist_ok=True)
    return usual if _is_private(usual) else Path(tempfile.mkdtemp(prefix="kernelbot-runtime-"))


def _fits(folder: Path) -> bool:
    """Whether a socket in it has a path that works in a URL, where commas separate hosts."""
    path = os.fsencode(folder / f".s.PGSQL.{_PORT}")
    return len(path) <= _MAX_SOCKET_PATH_BYTES and b"," not in path


def _is_private(folder: Path) -> bool:
    """Whether it belongs to this account, and nobody else can enter it."""
    try:
        found = folder.stat(follow_symlinks=False)
    except OSError:
        return False
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return ours and not stat.S_IMODE(found.st_mode) & 0o077


def _error_text(error: Exception) -> str:
    """Why a program failed, in its own words."""
    if isinstance(error, subprocess.CalledProcessError) and error.stderr:
        return _why(error.stderr.decode(errors="replace").strip().splitlines())
    if isinstance(error, PermissionError):
        return f"{in_words(error)}: the account it runs as can't reach it"
    return in_words(error)


def _why(lines: list[str]) -> str:
    """What Postgres says it ends for, if that is among its lines: what it says after that is how it
    ends. Else the last two."""
    fatal = [line for line in lines if re.search(r"\b(FATAL|PANIC): ", line)]
    said = (fatal[-1] if fatal else " ".join(lines[-2:]))[:_LAST_WORDS]
    if "shared memory" in said and os.strerror(errno.ENOSPC) in said:
        return f"{said}. /dev/shm is full: make room there, or give the container more of it"
    return said
