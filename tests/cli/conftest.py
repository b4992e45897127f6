from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.conftest import serve
from tests.support.live import LiveServer, live_server
from tests.support.problems import CORRECT
from tests.support.terminal import Shell

__all__ = ["serve"]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, {})


@pytest.fixture
def live(database_url: str) -> Iterator[LiveServer]:
    with live_server(database_url) as server:
        yield server


@pytest.fixture
def ada(live: LiveServer, tmp_path: Path) -> Shell:
    (tmp_path / "fast.py").write_bytes(CORRECT)
    return Shell(tmp_path, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": live.world.ada.token})


@pytest.fixture
def admin(live: LiveServer, tmp_path: Path) -> Shell:
    return Shell(tmp_path, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": live.world.admin.token})
