"""The bundled Postgres' programs, for accounts that can't enter the folder that they are in."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.store.bundled import program, reachable_program
from tests.support.nobody import open_folder

_FIND = """
import sys
from pathlib import Path
from kernelbot.domain.errors import Unavailable
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
        ran = subprocess.run([path, "--version"], capture_output=True, user=65534, group=65534)
        assert (0, b"") == (ran.returncode, ran.stderr)
    assert 1 == len(list(shared.iterdir()))
    assert 0o700 == closed.stat().st_mode & 0o777


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
