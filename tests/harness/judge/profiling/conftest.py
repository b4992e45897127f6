"""Runners in a real sandbox that shows fake toolkits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from tests.fakes.toolkits import cuda_toolkit, rocm


@contextmanager
def runners() -> Iterator[RunnerClient]:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    try:
        zygote.wait_ready(60)
        client = RunnerClient(zygote.connect())
        yield client
        client.close()
    finally:
        zygote.close()


@pytest.fixture(scope="module")
def toolkits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("toolkits")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_HOME", str(cuda_toolkit(folder / "cuda")))
        patch.setenv("ROCM_PATH", str(rocm(folder / "rocm")))
        yield folder


@pytest.fixture(scope="module")
def client(toolkits: Path) -> Iterator[RunnerClient]:
    assert toolkits.exists()
    with runners() as client:
        yield client
