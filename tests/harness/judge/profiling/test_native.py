import time
from pathlib import Path

import pytest

from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.profiling.native import profilers_for
from kernelbot.harness.judge.profiling.watched import Subject
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.protocol import Limits, Vendor
from tests.harness.judge.profiling.test_watched import job


def names(client: RunnerClient, vendor: Vendor, binary: bytes | None = None) -> list[str]:
    session = Session(client, Limits(), frozenset(), time.monotonic() + 60)
    try:
        found = profilers_for(Subject(job(vendor), frozenset(), binary, b""), session, client)
        return [type(profiler).__name__ for profiler in found]
    finally:
        session.abort()


def test_on_a_cpu_the_processor_counts_and_the_framework_tells(client: RunnerClient) -> None:
    assert ["CountingProfiler", "FrameworkProfiler"] == names(client, Vendor.CPU)


def test_of_compiled_code_on_a_cpu_the_framework_sees_nothing(client: RunnerClient) -> None:
    assert ["CountingProfiler"] == names(client, Vendor.CPU, b"ELF")


@pytest.mark.parametrize("binary", [None, b"ELF"])
def test_on_a_gpu_its_vendors_tool_looks_on(client: RunnerClient, binary: bytes | None) -> None:
    assert ["ToolProfiler", "FrameworkProfiler"] == names(client, Vendor.NVIDIA, binary)


def test_what_is_missing_has_its_place(
    client: RunnerClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert ["_Missing", "FrameworkProfiler"] == names(client, Vendor.NVIDIA)
