from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelbot.launchers.modal import ModalLauncher
from tests.fakes.modal import FakeModal
from tests.launchers.stages import modal_launcher
from tests.support.fake_node import build_fake_node


@dataclass
class Account:
    """A launcher, started, and the service behind it."""

    service: FakeModal
    launcher: ModalLauncher


@pytest.fixture(scope="session")
def fake_node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_fake_node(tmp_path_factory.mktemp("node") / "node.pyz")


@pytest.fixture
def service(tmp_path: Path, fake_node: Path) -> Iterator[FakeModal]:
    found = FakeModal(tmp_path / "containers", fake_node)
    yield found
    found.close()


@pytest.fixture
async def account(service: FakeModal) -> AsyncIterator[Account]:
    async with modal_launcher(service) as launcher:
        yield Account(service, launcher)
