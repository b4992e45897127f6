"""A device with a GPU, judged end to end in the real sandbox; its driver is a fake."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    DeviceSpec,
    Fault,
    JobSpec,
    Mode,
    RunResult,
    Timeouts,
    Vendor,
    Verdict,
)
from tests.harness.jobs import REFERENCE, SORT, a_job, a_problem
from tests.support.cuda_driver import build_driver

GPU = DeviceSpec("fake", Vendor.NVIDIA, arch="90")
DRIVER = 'import ctypes\ndriver = ctypes.CDLL("libcuda.so.1")\n'
WORK_MS = 3


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with pytest.MonkeyPatch.context() as patch:
        folder = build_driver(tmp_path_factory.mktemp("driver")).parent
        patch.setenv("LD_LIBRARY_PATH", str(folder))
        host = Host()
        yield host
        host.close()


def on_gpu(source: str, mode: Mode = Mode.BENCHMARK, reference: str = REFERENCE) -> JobSpec:
    problem = a_problem(reference=reference, timeouts=Timeouts(20, 30, 30))
    return replace(a_job(source, mode=mode, problem=problem), device=GPU)


def judge(host: Host, job: JobSpec) -> RunResult:
    return host.judge(job, lambda _event: None)


def test_an_honest_kernel_is_accepted_and_timed(host: Host) -> None:
    result = judge(host, on_gpu(SORT))
    assert result.verdict == Verdict.ACCEPTED, result.failure
    assert all(load.median_ns > 0 for load in result.phases[-1].workloads)


def test_work_left_on_the_gpu_counts(host: Host) -> None:
    """Less what marks and a launch cost: some microseconds, more or fewer on a busy machine."""
    work = f"driver.fake_submit({WORK_MS * 1_000_000})"
    leaves = DRIVER + SORT.replace("return", f"{work}; return")
    result = judge(host, on_gpu(leaves))
    assert result.verdict == Verdict.ACCEPTED, result.failure
    assert result.phases[-1].workloads[-1].median_ns > 0.9 * WORK_MS * 1e6


def test_a_wrong_answer_is_one_here_too(host: Host) -> None:
    result = judge(host, on_gpu("def custom_kernel(data):\n    return data\n", Mode.TEST))
    assert result.verdict == Verdict.WRONG_ANSWER


def test_a_broken_gpu_ends_the_runner(host: Host) -> None:
    source = f"{DRIVER}def custom_kernel(data):\n    driver.fake_fail()\n"
    result = judge(host, on_gpu(source, Mode.TEST))
    told = [case.message.splitlines()[-1] for case in result.phases[0].cases]
    assert result.verdict == Verdict.RUNTIME_ERROR
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in told[0]
    assert told[1:] == ["Not run: the program had ended in another case."] * 2


@pytest.mark.exhaustive
def test_copying_a_large_output_is_no_part_of_the_time(host: Host) -> None:
    """The control runner returns its input, so the cost of a larger output must not be timed."""
    reference = """
import numpy as np
def generate_input(size, seed):
    return np.full(8, seed, np.float32)
def ref_kernel(data):
    return np.repeat(data, 1 << 20)
def check_implementation(data, output):
    return output.size == 8 << 20, "wrong"
"""
    source = """
import numpy as np
kept = np.zeros(8 << 20, np.float32)
def custom_kernel(data):
    return kept
"""
    result = judge(host, on_gpu(source, reference=reference))
    assert result.verdict == Verdict.ACCEPTED, result.failure
    assert result.phases[-1].workloads[-1].median_ns < 1e6


@pytest.mark.exhaustive
def test_where_there_is_no_gpu_nobody_is_blamed_but_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    host = Host()
    try:
        result = judge(host, on_gpu(SORT, Mode.TEST))
    finally:
        host.close()
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert "Runners find no GPU" in result.failure.message
