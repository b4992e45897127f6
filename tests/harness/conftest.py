"""A real zygote, shared by a module's tests: each test gets its own connection."""

from collections.abc import Iterator

import pytest

from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig

_READY_TIMEOUT_S = 60


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    try:
        zygote.wait_ready(_READY_TIMEOUT_S)
        yield zygote
    finally:
        zygote.close()


@pytest.fixture
def client(zygote: Zygote) -> Iterator[RunnerClient]:
    client = RunnerClient(zygote.connect())
    yield client
    client.close()
