"""The wheels that a server hands out: the whole is the one that build tools make, the client a part
of it, and both install and run."""

import ast
import email
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
from kernelbot.domain.errors import Unavailable
from kernelbot.platform.distribution import CLIENT_VERSION, wheel_name, wheel_url
from kernelbot.server import client_wheel
from kernelbot.server.client_wheel import build_client_wheel, build_whole_wheel
from tests.support.live import live_server
from tests.support.postgres import TestServer

ROOT = Path(__file__).resolve().parents[2]
BUILDS_AGAIN = """
import hashlib
from kernelbot.server.client_wheel import build_whole_wheel
print(hashlib.sha256(build_whole_wheel()).hexdigest())
"""
IMPORTS_ALL = """
import importlib, pkgutil, sys, kernelbot
names = [found.name for found in pkgutil.walk_packages(kernelbot.__path__, "kernelbot.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(sorted({".".join(name.split(".")[:2]) for name in names}))
"""
IS_THERE = """
import sys, importlib.util
print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name)))
"""
READS_THE_GUIDE = """
from kernelbot.web.guide.contents import Contents
from kernelbot.web.guide.writing import written
found, path = Contents(), "reference/rules.md"
print(len(found.pages), written(found.text(path), path).title.title)
"""
NEVER_IN_A_CLIENT = {
    f"kernelbot.{name}" for name in ("server", "harness", "store", "services", "worker")
}


@pytest.fixture(scope="module")
def wheel() -> bytes:
    return build_whole_wheel()


@pytest.fixture(scope="module")
def client() -> bytes:
    return build_client_wheel()


def record(wheel: zipfile.ZipFile) -> set[str]:
    """What installers check, a line for each file but for the one that names the tool."""
    (name,) = [name for name in wheel.namelist() if name.endswith("/RECORD")]
    lines = wheel.read(name).decode().splitlines()
    return {line for line in lines if "/WHEEL," not in line}


@pytest.mark.exhaustive  # each run has test_it_is_the_wheel_that_build_tools_make
def test_the_same_files_give_the_same_bytes(wheel: bytes, client: bytes) -> None:
    assert (wheel, client) == (build_whole_wheel(), build_client_wheel())


@pytest.mark.exhaustive  # each run has test_what_a_server_hands_out_installs_and_runs
def test_a_client_has_what_it_finds_by_entry_points(client: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(client)) as part:
        (name,) = [one for one in part.namelist() if one.endswith("/entry_points.txt")]
        declared = part.read(name).decode()
        taken = set(part.namelist())
    sections = [line for line in declared.splitlines() if line.startswith("[")]
    assert ["[console_scripts]", "[kernelbot.importers]"] == sections
    parts = ("suite.py", "skeleton/reference.py.txt")
    suites = ("flashinfer", "kernelbench", "tensara")
    assert {f"kernelbot/importers/{suite}/{part}" for suite in suites for part in parts} <= taken


def test_a_client_is_a_small_part_of_the_whole(wheel: bytes, client: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(wheel)) as whole, zipfile.ZipFile(io.BytesIO(client)) as part:
        sources = {
            one.filename: one.CRC for one in whole.infolist() if "dist-info" not in one.filename
        }
        taken = {
            one.filename: one.CRC for one in part.infolist() if "dist-info" not in one.filename
        }
    assert {} == {name: crc for name, crc in taken.items() if sources[name] != crc}
    assert len(taken) < len(sources) / 3
    assert [] == [name for name in taken if name.endswith(".sql")]


def test_a_client_says_which_extras_it_has(client: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(client)) as part:
        (name,) = [name for name in part.namelist() if name.endswith("/METADATA")]
        said = email.message_from_bytes(part.read(name))
    needed = [one for one in said.get_all("Requires-Dist", []) if "extra ==" in one]
    assert (CLIENT_VERSION, ["mcp", "verify"]) == (said["Version"], said.get_all("Provides-Extra"))
    assert ["cryptography", "mcp"] == sorted(one.partition(">")[0] for one in needed)


def test_it_is_the_wheel_that_build_tools_make(wheel: bytes, tmp_path: Path) -> None:
    """Its record has the hash of each of its files."""
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    assert wheel_name() == Path(built).name
    with zipfile.ZipFile(built) as theirs, zipfile.ZipFile(io.BytesIO(wheel)) as ours:
        assert sorted(theirs.namelist()) == sorted(ours.namelist())
        assert [] == sorted(record(theirs) ^ record(ours))


def fresh(folder: Path, url: str) -> Path:
    """The programs of a fresh environment into which pip installed what a server handed out; it
    borrows our dependencies, behind its own packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    command = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install"]
    options = ["--no-deps", "--no-index", "--no-compile", "--no-cache-dir", "--quiet"]
    done = subprocess.run(
        [*command, *options, "--disable-pip-version-check", url],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


@pytest.fixture(scope="module")
def both(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A client and the whole, installed from one server."""
    folder = tmp_path_factory.mktemp("installed")
    with postgres.database() as url, live_server(url) as server:
        client = fresh(folder / "client", wheel_url(server.url))
        return client, fresh(folder / "whole", wheel_url(server.url, "judge"))


@pytest.fixture(scope="module")
def installed(both: tuple[Path, Path]) -> Path:
    """The client."""
    return both[0]


@pytest.fixture(scope="module")
def whole(both: tuple[Path, Path]) -> Path:
    """The whole package."""
    return both[1]


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


@pytest.mark.exhaustive  # each run has test_what_a_server_hands_out_installs_and_runs
def test_a_client_has_all_that_its_modules_import(installed: Path) -> None:
    packages = set(ast.literal_eval(said(installed / "python", "-c", IMPORTS_ALL)))
    assert {"kernelbot.cli", "kernelbot.client"} == packages & {"kernelbot.cli", "kernelbot.client"}
    assert set() == packages & NEVER_IN_A_CLIENT


def test_a_client_says_what_judging_needs(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "kernelbot"), "run", str(tmp_path), __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert (2, True) == (done.returncode, "This command needs more than the client" in done.stderr)


def test_the_whole_has_what_judges_and_serves(whole: Path) -> None:
    there = said(whole / "python", "-c", IS_THERE, *sorted(NEVER_IN_A_CLIENT))
    assert sorted(NEVER_IN_A_CLIENT) == there.split()


def test_the_whole_has_the_documentation_and_a_client_has_none(whole: Path, client: bytes) -> None:
    there = said(whole / "python", "-c", READS_THE_GUIDE)
    assert f"{len(list((ROOT / 'docs').rglob('*.md')))} Rules\n" == there
    with zipfile.ZipFile(io.BytesIO(client)) as part:
        assert [] == [name for name in part.namelist() if "/guide/" in name]


@pytest.mark.exhaustive
def test_a_server_that_was_installed_from_a_wheel_hands_out_the_same(
    whole: Path, wheel: bytes
) -> None:
    again = said(whole / "python", "-c", BUILDS_AGAIN).strip()
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
    with zipfile.ZipFile(io.BytesIO(build_whole_wheel())) as made:
        names = [name for name in made.namelist() if "dist-info" not in name]
    assert ["kernelbot/__init__.py"] == names
