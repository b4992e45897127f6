"""A GPU between two jobs, over the stand-in driver."""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.gpu.readiness import clear_memory, make_ready
from kernelbot.harness.host.cancellation import AttemptLost
from kernelbot.harness.host.host import Host
from kernelbot.harness.inside.gpu.driver import Driver, GpuError, HipDriver
from kernelbot.protocol import DeviceSpec, Vendor, Verdict
from tests.harness.host.vendor.machine import put_nvidia_smi
from tests.harness.jobs import SORT, a_job
from tests.support.cuda_driver import build_driver, build_hip
from tests.support.device_problems import DEVICE
from tests.support.devices import with_devices

TOTAL_BYTES = 32 << 20
SECRET = b"the reference's output "
OUT_OF_MEMORY = 2
FIND = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
address = ctypes.c_uint64()
assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(16 << 20)) == 0
found = ctypes.string_at(address.value, 16 << 20).count(b"reference")
def custom_kernel(data):
    raise RuntimeError(f"found {found} times")
"""


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    """Whose memory keeps what is in it."""
    library = build_driver(tmp_path)
    (tmp_path / "memory").write_bytes((SECRET * (TOTAL_BYTES // len(SECRET) + 1))[:TOTAL_BYTES])
    (tmp_path / "memory").chmod(0o644)
    return Driver(str(library))


def soon() -> float:
    return time.monotonic() + 60


@pytest.mark.exhaustive  # each run has test_a_job_of_one_touches_no_other_gpu
def test_all_free_memory_is_overwritten(driver: Driver, tmp_path: Path) -> None:
    assert TOTAL_BYTES == clear_memory(driver, soon())
    assert (bytes(TOTAL_BYTES), TOTAL_BYTES) == (
        (tmp_path / "memory").read_bytes(),
        driver.free_bytes(),
    )


def test_memory_that_somebody_uses_is_left_alone(driver: Driver, tmp_path: Path) -> None:
    small = [driver.allocate(4 << 20) for _ in range(4)]
    driver.release(small[0])
    driver.release(small[2])  # what is free isn't in one piece
    assert TOTAL_BYTES - (8 << 20) == clear_memory(driver, soon())
    kept = (tmp_path / "memory").read_bytes()
    assert [0, 1, 0, 1, 0] == [
        int(SECRET in kept[start : start + (4 << 20)]) for start in range(0, 20 << 20, 4 << 20)
    ]


def test_memory_that_cant_be_had_is_an_error(driver: Driver, tmp_path: Path) -> None:
    fake = ctypes.CDLL(str(tmp_path / "libcuda.so.1"))
    fake.fake_fail_in(b"cuMemAlloc_v2", OUT_OF_MEMORY)
    with pytest.raises(GpuError, match="only 0 can be overwritten"):
        clear_memory(driver, soon())


@pytest.mark.exhaustive  # each run has test_a_job_of_one_touches_no_other_gpu
def test_what_a_process_gives_back_meanwhile_is_overwritten_too(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = [driver.allocate(8 << 20)]
    wait = driver.is_done

    def is_done() -> bool:
        if late:
            driver.release(late.pop())
        return wait()

    monkeypatch.setattr(driver, "is_done", is_done)
    assert TOTAL_BYTES == clear_memory(driver, soon())
    assert bytes(TOTAL_BYTES) == (tmp_path / "memory").read_bytes()


def test_a_gpu_that_doesnt_finish_is_an_error(driver: Driver, tmp_path: Path) -> None:
    fake = ctypes.CDLL(str(tmp_path / "libcuda.so.1"))
    fake.fake_launch(driver.stream, ctypes.c_int64(3_600_000_000_000))
    with pytest.raises(GpuError, match="couldn't be overwritten in time"):
        clear_memory(driver, time.monotonic() + 0.1)  # it never finishes
    assert TOTAL_BYTES == driver.free_bytes()


@pytest.mark.exhaustive  # each run has test_a_gpu_that_doesnt_finish_is_an_error
def test_amds_memory_is_overwritten_by_its_own_names(tmp_path: Path) -> None:
    driver = HipDriver(str(build_hip(tmp_path, total_bytes=TOTAL_BYTES)))
    assert TOTAL_BYTES == clear_memory(driver, soon())


def test_there_is_nothing_to_do_on_a_processor() -> None:
    assert [] == list(make_ready(DeviceSpec("CPU", Vendor.CPU)))


@pytest.fixture
def host(tmp_path: Path, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    del driver  # its files are needed
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    host = Host()
    yield host
    host.close()


@pytest.mark.exhaustive
def test_an_author_finds_nothing_of_an_earlier_job(host: Host) -> None:
    result = host.judge(replace(a_job(FIND), device=DEVICE), lambda _event: None)
    assert Verdict.RUNTIME_ERROR == result.verdict
    assert result.failure is not None
    assert "found 0 times" in result.failure.message
    assert "gpu_ready" in result.timings


# Each run has test_an_honest_kernel_is_accepted_and_timed (judge/gpu/test_judging.py)
@pytest.mark.exhaustive
def test_an_honest_kernel_is_accepted_there(host: Host) -> None:
    result = host.judge(replace(a_job(SORT), device=DEVICE), lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure


@pytest.mark.exhaustive
def test_without_the_clock_that_was_asked_for_nothing_is_judged(host: Host) -> None:
    job = replace(a_job(SORT), device=replace(DEVICE, clock_mhz=1980))
    with pytest.raises(AttemptLost, match="clock can't be set: there is no GPU's file in /dev"):
        host.attempt(job, lambda _event: None)


@pytest.mark.exhaustive
@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user can't make a /dev")
def test_the_clock_is_set_again_for_each_job(driver: Driver, tmp_path: Path) -> None:
    del driver  # its files are needed
    calls = put_nvidia_smi(tmp_path)
    program = (
        "from kernelbot.harness.gpu.readiness import make_ready\n"
        "from kernelbot.protocol import DeviceSpec, Vendor\n"
        "for mhz in (1980, 0, None):\n"
        "    assert not list(make_ready(DeviceSpec('H100', Vendor.NVIDIA, clock_mhz=mhz)))\n"
    )
    command = with_devices([sys.executable, "-c", program], ("nvidiactl", "nvidia0", "nvidia1"))
    path = f"{tmp_path}:{os.environ['PATH']}"
    chosen = {"CUDA_VISIBLE_DEVICES": "1", "LD_LIBRARY_PATH": str(tmp_path), "PATH": path}
    subprocess.run(command, env={**os.environ, **chosen}, check=True)
    assert [
        "nvidia-smi --id=1 --lock-gpu-clocks=1980,1980",
        "nvidia-smi --id=1 --reset-gpu-clocks",
    ] == calls.read_text().splitlines()


MAKES_READY = """
from kernelbot.harness.gpu.readiness import make_ready
from kernelbot.protocol import DeviceSpec, Vendor
print(*make_ready(DeviceSpec("a", Vendor[{vendor!r}])))
"""


def made_ready(folder: Path, vendor: Vendor) -> subprocess.CompletedProcess[str]:
    """With the driver in `folder`."""
    return subprocess.run(
        [sys.executable, "-c", MAKES_READY.format(vendor=vendor.name)],
        env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("vendor", [Vendor.NVIDIA, Vendor.AMD])
def test_the_machines_own_memory_is_left_alone(tmp_path: Path, vendor: Vendor) -> None:
    """A GPU without memory of its own calls free what is the machine's: to take it all ends it."""
    (build_driver if vendor is Vendor.NVIDIA else build_hip)(tmp_path)
    kept = SECRET * 1000
    (tmp_path / "memory").write_bytes(kept)
    (tmp_path / "integrated").touch()
    said = made_ready(tmp_path, vendor)
    assert kept == (tmp_path / "memory").read_bytes(), said.stderr
    assert said.stdout.startswith("GPU 0 computes with the machine's memory, of which nothing")


def test_a_runtime_of_amds_that_doesnt_start_is_no_missing_driver(tmp_path: Path) -> None:
    """It was taken for a machine without a driver, whose memory isn't overwritten."""
    build_hip(tmp_path)
    (tmp_path / "listed").write_text("/nonexistent/renderD129")
    said = made_ready(tmp_path, Vendor.AMD)
    assert "" == said.stdout
    assert "GpuUnavailable: hipErrorInvalidDevice: invalid device ordinal" in said.stderr
    assert "(groups render and video;" in said.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user can't make a /dev")
@pytest.mark.parametrize(("gpus", "touched"), [("1", ["0"]), ("None", ["0", "1"])])
def test_a_job_of_one_touches_no_other_gpu(tmp_path: Path, gpus: str, touched: list[str]) -> None:
    build_driver(tmp_path, devices=2)
    calls = put_nvidia_smi(tmp_path)
    program = (
        "import ctypes\n"
        "from kernelbot.harness.gpu.readiness import make_ready\n"
        "from kernelbot.protocol import DeviceSpec, Vendor\n"
        f"list(make_ready(DeviceSpec('H100', Vendor.NVIDIA, clock_mhz=1980), gpus={gpus}))\n"
        "driver = ctypes.CDLL('libcuda.so.1')\n"
        "print(driver.fake_count(b'cuDevicePrimaryCtxRetain'))\n"
    )
    command = with_devices([sys.executable, "-c", program], ("nvidiactl", "nvidia0", "nvidia1"))
    given = {"LD_LIBRARY_PATH": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    contexts = subprocess.check_output(command, env={**os.environ, **given}, text=True)
    locked = [line.split("--id=")[1][0] for line in calls.read_text().splitlines()]
    assert (touched, len(touched)) == (locked, int(contexts))
