"""`scripts/empty-environment`, which `make` calls where there is no virtual environment."""

import ensurepip
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "empty-environment"
BUNDLED = sysconfig.get_config_var("WHEEL_PKG_DIR") or Path(ensurepip.__file__).parent / "_bundled"


def made(folder: Path, python: str) -> Path:
    """An environment with the pip that Python brings along: no index is asked."""
    (folder / "constraints.txt").touch()
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(BUNDLED)}
    command = [str(SCRIPT), python, "made", "pip"]
    subprocess.run(command, cwd=folder, env=os.environ | offline, check=True)
    return folder / "made"


def has_pip(environment: Path) -> bool:
    version = [str(environment / "bin" / "python"), "-m", "pip", "--version"]
    said = subprocess.run(version, check=True, capture_output=True, text=True).stdout
    return str(environment) in said


def test_pip_is_installed_from_its_archive(tmp_path: Path) -> None:
    environment = made(tmp_path, sys.executable)
    assert has_pip(environment)
    compiled = list(environment.rglob("pip/_internal/commands/*.pyc"))
    assert not compiled, "Python's own way compiles all of it"


@pytest.mark.exhaustive  # Python's own way; each run has the other one
def test_where_that_does_not_work_it_is_done_the_long_way(tmp_path: Path) -> None:
    """The stand-in says that the archive is where there is none."""
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\n[ "$1" = - ] && echo {tmp_path}/none.whl && exit 0\n'
        f'exec {sys.executable} "$@"\n'
    )
    python.chmod(0o700)
    assert has_pip(made(tmp_path, str(python)))


def test_what_cannot_be_installed_fails_once(tmp_path: Path) -> None:
    """The long way couldn't install it either: without a network both would be waited for."""
    (tmp_path / "constraints.txt").touch()
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(BUNDLED)}
    command = [str(SCRIPT), sys.executable, "made", "no-such-package"]
    tried = subprocess.run(
        command, cwd=tmp_path, env=os.environ | offline, capture_output=True, text=True
    )
    said = tried.stderr.count("No matching distribution found for no-such-package")
    assert (1, 1) == (tried.returncode, said)
    assert not list(tmp_path.glob("made/lib/*/site-packages/pip")), "the long way was taken"
