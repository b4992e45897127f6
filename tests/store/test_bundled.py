"""The bundled Postgres' programs, for accounts that can't enter the folder that they are in."""

import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.store import bundled
from kernelbot.store.bundled import program, reachable_program
from tests.support.nobody import NOBODY, open_folder

_FIND = """
import sys
from pathlib import Path
from kernelbot.domain.errors import Unavailable
from kernelbot.store import bundled
from kernelbot.store.bundled import reachable_program
try:
    print(reachable_program(sys.argv[1], Path(sys.argv[2])))
except Unavailable as error:
    print(error, error.hint)
"""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs it as another account")


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that everybody can enter."""
    with open_folder() as made:
        yield made


@pytest.fixture
def closed(folder: Path) -> Path:
    """One that nobody else can enter, with the programs in it."""
    installed = Path(program("postgres")).parents[2]
    made = folder / "closed"
    made.mkdir(mode=0o700)
    for part in (installed, installed.with_name(f"{installed.name}.libs")):
        if part.exists():
            shutil.copytree(part, made / part.name, copy_function=os.link, symlinks=True)
    return made


def found_in(closed: Path, name: str, shared: Path) -> str:
    environ = os.environ | {"PYTHONPATH": str(closed)}
    command = [sys.executable, "-c", _FIND, name, str(shared)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@as_root
def test_another_account_runs_a_copy_of_what_it_can_not_reach(folder: Path, closed: Path) -> None:
    shared = folder / "shared" / "kernelbot"
    found = [found_in(closed, name, shared) for name in ("postgres", "initdb", "postgres")]
    assert all(path.startswith(f"{shared}/postgres-") for path in found)
    assert found[0] == found[2]
    for path in found:
        assert_others_run(path)
    assert 1 == len(list(shared.iterdir()))
    assert 0o700 == closed.stat().st_mode & 0o777


def assert_others_run(path: str) -> None:
    ran = subprocess.run([path, "--version"], capture_output=True, user=NOBODY, group=NOBODY)
    assert (0, b"") == (ran.returncode, ran.stderr)


@as_root
def test_what_root_has_installed_for_itself_alone_is_copied_for_all(folder: Path) -> None:
    """With a umask of 077, nobody else may enter or read anything of it."""
    closed = folder / "closed"
    installed = Path(program("postgres")).parents[2]
    for part in (installed, installed.with_name(f"{installed.name}.libs")):
        if part.exists():
            shutil.copytree(part, closed / part.name, symlinks=True)
    subprocess.run(["chmod", "-R", "go-rwx", str(closed)], check=True)
    shared = folder / "kernelbot"
    before = os.umask(0o077)
    try:
        found = found_in(closed, "initdb", shared)
    finally:
        os.umask(before)
    assert_others_run(found)
    readable = [Path(name, file) for name, _, files in os.walk(shared) for file in files]
    assert [] == [path for path in readable if not path.stat().st_mode & stat.S_IROTH]
    kept = [path for path in closed.rglob("*") if not path.is_symlink()]
    assert {0} == {path.stat().st_mode & 0o077 for path in kept}


@as_root
@pytest.mark.parametrize("whose", ["another's", "writable", "a link", "closed", "of another in it"])
def test_no_program_is_run_that_others_may_have_put_there(
    folder: Path, closed: Path, whose: str
) -> None:
    shared = folder / "kernelbot"
    planted = shared / Path(found_in(closed, "postgres", shared)).relative_to(shared).parts[0]
    if whose == "another's":
        os.chown(shared, NOBODY, NOBODY)
    elif whose == "writable":
        shared.chmod(0o777)
    elif whose == "a link":
        planted.rename(folder / "elsewhere")
        planted.symlink_to(folder / "elsewhere")
    elif whose == "closed":
        shared.chmod(0o700)
    else:
        os.chown(planted, NOBODY, NOBODY)
    told = found_in(closed, "postgres", shared)
    assert "a copy can't be had in" in told
    assert "Install KernelBot in a folder that others can enter, or set DATABASE_URL." in told


@as_root
@pytest.mark.parametrize("error", [errno.ENOTEMPTY, errno.EEXIST])
def test_one_copy_is_made_by_two_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    """Which of these errors the slower one gets depends on the file system."""

    def rename(draft: Path, target: Path) -> None:
        shutil.copytree(draft, target, copy_function=os.link, symlinks=True)
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(bundled, "_is_open", lambda path: path.is_relative_to(folder))
    monkeypatch.setattr(Path, "rename", rename)
    assert_others_run(reachable_program("postgres", folder / "kernelbot"))


@as_root
def test_a_copy_that_can_not_be_made_is_told(folder: Path, closed: Path) -> None:
    (folder / "file").touch()
    told = found_in(closed, "postgres", folder / "file" / "kernelbot")
    assert "can't be reached by the account that Postgres runs as" in told
    assert "Install KernelBot in a folder that others can enter, or set DATABASE_URL." in told


def test_what_can_be_reached_is_not_copied(folder: Path) -> None:
    installed = Path(program("initdb"))
    if not all(above.stat().st_mode & 0o001 for above in installed.parents):
        pytest.skip("this checkout is in a folder that others can't enter")
    assert str(installed) == reachable_program("initdb", folder / "shared")
    assert not (folder / "shared").exists()
