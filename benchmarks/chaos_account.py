"""Whose the server of `chaos.py` is: an account of this machine, and a control group of its own."""

import contextlib
import multiprocessing
import os
import pwd
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

ROOT = Path(__file__).resolve().parent.parent
CONTROLLERS = "+cpu +memory +pids"
P = ParamSpec("P")
T = TypeVar("T")


class AccountTrouble(Exception):
    """The server can't run as this account, with the reason."""


@dataclass(frozen=True)
class Account:
    """The account that the server and all that it starts run as. Schedulers stay root's, as they do
    on machines where people log in."""

    name: str
    uid: int
    gid: int
    home: Path
    group: Path | None
    """The control group that it starts in; None: ours."""
    calls: Executor
    """Calls functions in a process of the account's."""

    @property
    def command(self) -> tuple[str, ...]:
        """What stands before a command that is to run as this account."""
        become = ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--init-groups"]
        if self.group is None:
            return tuple(become)
        joined = f'echo $$ >{shlex.quote(str(self.group / "cgroup.procs"))} && exec "$@"'
        return ("sh", "-c", joined, "sh", *become)

    @property
    def variables(self) -> Mapping[str, str]:
        """What differs in its environment from ours."""
        places = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home / "run")}
        return {**places, "USER": self.name, "LOGNAME": self.name}

    def own(self, folder: Path) -> None:
        """Give it a folder of ours, in which nothing is so far."""
        os.chown(folder, self.uid, self.gid)

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns in a process of the account's, as which alone Postgres lets it
        in by its socket; this process has threads that have to stay root's."""
        return self.calls.submit(function, *args, **kwargs).result()


def calls_as(uid: int, gid: int) -> Executor:
    """One process of these ids, which executes calls."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, initializer=_become, initargs=(uid, gid))


def _become(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


@contextlib.contextmanager
def account_of(name: str, delegated: Path | None) -> Iterator[Account]:
    """The account while the block runs; only root can have it.

    `delegated`: a control group of version 2 without processes in it, of which the account gets a
    part to itself, as it gets one of systemd where it logs in. Raises `AccountTrouble`.
    """
    try:
        known = pwd.getpwnam(name)
    except KeyError:
        raise AccountTrouble(f"there is no account {name}") from None
    if os.geteuid() != 0:
        raise AccountTrouble("only root can start a server as another account")
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelbot-home-")))
        (home / "run").mkdir(mode=0o700)
        group = delegated and stack.enter_context(_delegated(delegated, known))
        calls = stack.enter_context(calls_as(known.pw_uid, known.pw_gid))
        account = Account(name, known.pw_uid, known.pw_gid, home, group, calls)
        account.own(home)
        account.own(home / "run")
        _try_out(account)
        yield account


def _try_out(account: Account) -> None:
    tried = [*account.command, sys.executable, "-c", "import benchmarks.chaos"]
    if subprocess.run(tried, cwd=ROOT, capture_output=True).returncode != 0:
        raise AccountTrouble(f"the account {account.name} can't run {sys.executable} in {ROOT}")


@contextlib.contextmanager
def _delegated(parent: Path, known: pwd.struct_passwd) -> Iterator[Path]:
    """The group in which programs of the account start: one below a group that is all the
    account's, and hands limits on."""
    whole = parent / f"kernelbot-chaos-{os.getpid()}"
    starting = whole / "login"
    try:
        (parent / "cgroup.subtree_control").write_text(CONTROLLERS)
        whole.mkdir()
        (whole / "cgroup.subtree_control").write_text(CONTROLLERS)
        starting.mkdir()
        for folder in (whole, starting):
            for path in (folder, folder / "cgroup.procs", folder / "cgroup.subtree_control"):
                os.chown(path, known.pw_uid, known.pw_gid)
    except OSError as error:
        raise AccountTrouble(f"{parent} can't be delegated: {error}") from error
    try:
        yield starting
    finally:
        for folder in (*sorted(whole.glob("*/")), whole):
            with contextlib.suppress(OSError):  # of processes that are still on their way out
                folder.rmdir()
