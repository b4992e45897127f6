"""What a program that colours, compares or draws can still reach. As root it is nobody besides, so
what it mustn't reach here is everybody's."""

import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import kernelbot
from kernelbot.drawing.confining import _ASK_VERSION, _CREATE_RULESET, _call, readable
from kernelbot.drawing.kept_program import PooledProgram
from tests.drawing import reaching

ROOT = Path(__file__).resolve().parents[2]
VERSION = _call(_CREATE_RULESET, None, 0, _ASK_VERSION)
pytestmark = pytest.mark.skipif(VERSION < 1, reason="this kernel has no Landlock")


@pytest.fixture
async def program(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PooledProgram]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    found = PooledProgram(reaching.__name__)
    yield found
    await found.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Everybody's, with a file."""
    with tempfile.TemporaryDirectory(prefix="kernelbot-reach-") as name:
        found = Path(name)
        found.chmod(0o777)
        (found / "file").write_text("of the server's")
        (found / "file").chmod(0o666)
        yield found


async def reached(program: PooledProgram, **request: Any) -> bytes | None:
    return await program.ask(json.dumps(request).encode(), 60)


async def test_no_file_but_modules(program: PooledProgram, folder: Path) -> None:
    module = Path(kernelbot.__file__)
    places = (str(folder / "file"), str(folder), "/proc/self/environ", "/usr/bin/env")
    found = [await reached(program, path=path) for path in places]
    assert [b"PermissionError"] * 3 + [b"reached"] == found
    if os.access(module, os.R_OK) and os.geteuid() != 0:  # nobody may not get there
        assert await reached(program, path=str(module)) == b"reached"


async def test_nothing_is_written(program: PooledProgram, folder: Path) -> None:
    file, new = folder / "file", folder / "new"
    flags = os.O_WRONLY | os.O_CREAT
    found = [await reached(program, path=str(path), flags=flags) for path in (file, new)]
    assert ([b"PermissionError"] * 2, False) == (found, new.exists())


@pytest.mark.skipif(VERSION < 4, reason="this kernel's Landlock knows no TCP")
async def test_nobody_is_connected_to(program: PooledProgram) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert await reached(program, port=port) == b"PermissionError"


@pytest.mark.skipif(VERSION < 6, reason="this kernel's Landlock knows no signals")
async def test_no_process_gets_a_signal(program: PooledProgram) -> None:
    assert await reached(program, pid=os.getpid()) == b"PermissionError"


def test_a_home_is_never_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", ["", "/", "/people", "/people/ada", "/people/ada/venv/lib"])
    places = readable(Path("/people/ada"))
    assert ["/people/ada/venv/lib"] == [place for place in places if place.startswith("/people")]
    assert "/" not in places
