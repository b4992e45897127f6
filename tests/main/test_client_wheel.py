"""The wheel that a server hands out is the one that build tools make, and it installs and runs."""

import hashlib
import io
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

import kernelbot
from kernelbot import __version__
from kernelbot.domain.distribution import wheel_name, wheel_url
from kernelbot.domain.errors import Unavailable
from kernelbot.main import client_wheel
from kernelbot.main.client_wheel import build_client_wheel
from tests.support.live import live_server
from tests.support.postgres import TestServer

ROOT = Path(__file__).resolve().parents[2]
BUILDS_AGAIN = """
import hashlib
from kernelbot.main.client_wheel import build_client_wheel
print(hashlib.sha256(build_client_wheel()).hexdigest())
"""


@pytest.fixture(scope="module")
def wheel() -> bytes:
    return build_client_wheel()


def record(wheel: zipfile.ZipFile) -> set[str]:
    """What installers check, a line for each file but for the one that names the tool."""
    (name,) = [name for name in wheel.namelist() if name.endswith("/RECORD")]
    lines = wheel.read(name).decode().splitlines()
    return {line for line in lines if "/WHEEL," not in line}


def test_the_same_files_give_the_same_bytes(wheel: bytes) -> None:
    assert build_client_wheel() == wheel


def test_it_is_the_wheel_that_build_tools_make(wheel: bytes, tmp_path: Path) -> None:
    """Its record has the hash of each of its files."""
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    assert wheel_name() == Path(built).name
    with zipfile.ZipFile(built) as theirs, zipfile.ZipFile(io.BytesIO(wheel)) as ours:
        assert sorted(theirs.namelist()) == sorted(ours.namelist())
        assert [] == sorted(record(theirs) ^ record(ours))


@pytest.fixture(scope="module")
def installed(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment into which pip installed what a server handed out; it borrows our
    dependencies, behind its own packages."""
    folder = tmp_path_factory.mktemp("client") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    with postgres.database() as url, live_server(url) as server:
        command = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install"]
        options = ["--no-deps", "--no-index", "--no-compile", "--no-cache-dir", "--quiet"]
        done = subprocess.run(
            [*command, *options, "--disable-pip-version-check", wheel_url(server.url)],
            capture_output=True,
            text=True,
            check=False,
        )
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def said(*command: str | Path) -> str:
    """In an empty environment, elsewhere than in the checkout."""
    done = subprocess.run(
        [str(one) for one in command],
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def test_what_a_server_hands_out_installs_and_runs(installed: Path) -> None:
    assert f"kernelbot {__version__}\n" == said(installed / "kernelbot", "--version")
    where = said(installed / "python", "-c", "import kernelbot; print(kernelbot.__file__)")
    assert where.startswith(str(installed.parent))


@pytest.mark.exhaustive
def test_a_server_that_was_installed_from_a_wheel_hands_out_the_same(
    installed: Path, wheel: bytes
) -> None:
    again = said(installed / "python", "-c", BUILDS_AGAIN).strip()
    assert hashlib.sha256(wheel).hexdigest() == again


@pytest.mark.parametrize("name", ["DISTRIBUTION", "__version__"])
def test_what_is_not_installed_is_not_handed_out(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(client_wheel, name, "0.0.9")
    with pytest.raises(Unavailable, match="no client to hand out"):
        build_client_wheel()


def test_what_is_hidden_or_compiled_stays_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "kernelbot"
    for name in ("__init__.py", ".env", "__pycache__/x.pyc", ".git/config", "api/.secret/a.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("x")
    monkeypatch.setattr(kernelbot, "__file__", str(package / "__init__.py"))
    with zipfile.ZipFile(io.BytesIO(build_client_wheel())) as made:
        names = [name for name in made.namelist() if "dist-info" not in name]
    assert ["kernelbot/__init__.py"] == names
