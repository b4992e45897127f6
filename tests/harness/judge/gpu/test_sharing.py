"""A GPU that others have or share is nobody's fault who is judged; over the stand-in driver."""

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.host.cancellation import AttemptLost
from kernelbot.harness.host.gpu_trial import try_gpus
from kernelbot.harness.host.host import Host
from kernelbot.harness.inside.gpu.driver import Driver, GpuUnavailable
from kernelbot.harness.words.sharing import apart_from_mps, excuse
from kernelbot.protocol import Fault, Mode, Vendor, Verdict
from tests.harness.jobs import SORT, a_job
from tests.support.cuda_driver import build_driver
from tests.support.device_problems import DEVICE, SCALE, device_job, device_problem

SAID = {
    46: ("CUDA_ERROR_DEVICE_UNAVAILABLE", "compute mode lets in one alone"),
    100: ("CUDA_ERROR_NO_DEVICE", "a slice of one"),
    802: ("CUDA_ERROR_SYSTEM_NOT_READY", "systemctl start nvidia-fabricmanager"),
    803: ("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "Restart the machine"),
    804: ("CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "cuda-compat"),
    805: ("CUDA_ERROR_MPS_CONNECTION_FAILED", "doesn't answer"),
    806: ("CUDA_ERROR_MPS_RPC_FAILURE", "failed while it worked"),
    807: ("CUDA_ERROR_MPS_SERVER_NOT_READY", "takes nobody in"),
    808: ("CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "as many clients"),
    809: ("CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", "as many connections"),
    810: ("CUDA_ERROR_MPS_CLIENT_TERMINATED", "has ended this process's work"),
}
TERMINATED = "driver.fake_fail_in(b'cuCtxSynchronize', 810)"
JOB = device_job(SCALE, Mode.TEST, device_problem())
STRUCK = device_job(
    SCALE.replace("    x, outputs", f"    {TERMINATED}\n    x, outputs"),
    Mode.TEST,
    device_problem(),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the driver."""
    return build_driver(tmp_path_factory.mktemp("driver")).parent


@pytest.fixture
def driver_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    yield folder
    (folder / "failing").unlink(missing_ok=True)


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MPS is running."""
    (tmp_path / "control").touch()
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))


def attempt(job: object = JOB) -> object:
    host = Host()
    try:
        return host.attempt(job, lambda _event: None)  # type: ignore[arg-type]
    finally:
        host.close()


@pytest.mark.parametrize("code", SAID)
def test_each_code_has_its_sentence(folder: Path, code: int) -> None:
    library = folder / "libcuda.so.1"
    fake = ctypes.CDLL(str(library))
    fake.fake_fail_in(b"cuDevicePrimaryCtxRetain", code)
    name, sentence = SAID[code]
    try:
        with pytest.raises(GpuUnavailable, match=f"{name}: .*{sentence}"):
            Driver(str(library))
    finally:
        fake.fake_fail_in(b"cuDevicePrimaryCtxRetain", 0)


@pytest.mark.exhaustive
def test_a_gpu_that_another_process_has_loses_the_attempt(driver_here: Path) -> None:
    (driver_here / "failing").write_text("cuDevicePrimaryCtxRetain 46")
    with pytest.raises(AttemptLost, match="compute mode lets in one alone"):
        attempt()


@pytest.mark.exhaustive
def test_where_memory_cant_be_shared_data_passes_the_hosts(driver_here: Path) -> None:
    """A virtual machine may refuse that, whatever functions the driver has."""
    (driver_here / "failing").write_text("cuMemExportToShareableHandle 801")
    host = Host()
    try:
        result = host.judge(replace(a_job(SORT), device=DEVICE), lambda _event: None)
    finally:
        host.close()
    said = [note for note in result.system.notes if "passed the host's memory" in note]
    assert (Verdict.ACCEPTED, 1) == (result.verdict, len(said)), result.failure


def test_the_doctor_says_so_before_the_first_job(driver_here: Path) -> None:
    works = try_gpus()
    (driver_here / "failing").write_text("cuDevicePrimaryCtxRetain 807")
    failing = try_gpus()
    assert (True, "1 can be used; the first has 64 GiB") == (works.works, works.note)
    assert (False, True) == (failing.works, "takes nobody in" in failing.note)


def test_without_a_driver_the_doctor_finds_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    assert try_gpus().works is None


@pytest.mark.exhaustive  # each run has test_the_doctor_says_so_before_the_first_job
@pytest.mark.usefixtures("driver_here", "daemon")
def test_a_call_that_mps_may_have_ended_loses_the_attempt() -> None:
    with pytest.raises(AttemptLost, match="has ended this process's work"):
        attempt(STRUCK)


@pytest.mark.exhaustive  # each run has test_without_a_driver_the_doctor_finds_no_gpu
@pytest.mark.usefixtures("driver_here", "daemon")
def test_a_job_beside_mps_is_judged_and_says_so() -> None:
    result = Host()
    try:
        found = result.judge(JOB, lambda _event: None)
    finally:
        result.close()
    assert (Verdict.ACCEPTED, True) == (found.verdict, "MPS is running" in found.system.notes[0])


@pytest.mark.exhaustive
@pytest.mark.usefixtures("driver_here")
def test_without_mps_it_is_no_excuse() -> None:
    host = Host()
    try:
        result = host.judge(STRUCK, lambda _event: None)
    finally:
        host.close()
    assert result.failure is not None
    assert (Verdict.RUNTIME_ERROR, Fault.AUTHOR) == (result.verdict, result.failure.fault)


@pytest.mark.parametrize("code", [0, 700, 811, -1, None, "810", [810], 10**30, True])
def test_nothing_else_that_a_runner_says_is_one(code: object) -> None:
    apart = {"CUDA_MPS_PIPE_DIRECTORY": "/nonexistent/mps"}
    assert excuse(code, apart) is None


def test_other_vendors_have_no_mps(tmp_path: Path) -> None:
    (tmp_path / "control").touch()
    there = {"CUDA_MPS_PIPE_DIRECTORY": str(tmp_path)}
    assert [True, False] == [bool(apart_from_mps(v, there)) for v in (Vendor.NVIDIA, Vendor.AMD)]
