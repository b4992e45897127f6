"""AMD's GPUs by HIP's own functions, as runtimes of several versions have them: the runtime is a
stand-in."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kernelbot.harness.inside.gpu.arena import Arena
from kernelbot.harness.inside.gpu.driver import DeviceFull, HipDriver
from kernelbot.harness.inside.gpu.timing import HipGpu
from tests.support.cuda_driver import build_driver, build_hip
from tests.support.exhaustive import cases

ROCM_5_4, ROCM_6_4, ROCM_7_0, ROCM_7_1 = 50_400_000, 60_400_000, 70_051_831, 70_100_000
ROCM_7_14 = 71_400_000


@pytest.mark.parametrize(
    "version",
    cases([ROCM_5_4, ROCM_6_4, ROCM_7_0, ROCM_7_1, ROCM_7_14], always=[ROCM_7_14]),
)
def test_memory_is_shared_as_each_version_wants(tmp_path: Path, version: int) -> None:
    """Before 7.1 the descriptor is read where an address points, in 7.14 when memory is mapped."""
    driver = HipDriver(str(build_hip(tmp_path, version=version)))
    arena = Arena.create(driver, 100)
    driver.fill(arena.address, 7, 8)
    driver.wait()
    other = Arena.attach(driver, arena.export(), arena.size_bytes, views=2)
    held = ctypes.create_string_buffer(8)
    driver.download(ctypes.addressof(held), other.addresses[1], 8)
    assert (True, b"\7" * 8) == (driver.has_virtual_memory(), held.raw)
    other.close()
    arena.close()


@pytest.mark.exhaustive  # each run has test_memory_is_shared_as_each_version_wants
@pytest.mark.parametrize("version", [ROCM_7_1, ROCM_7_14])
def test_memory_is_shared_with_several_processes(tmp_path: Path, version: int) -> None:
    """In 7.14 the descriptor that was handed out first is handed on, also if it was closed."""
    driver = HipDriver(str(build_hip(tmp_path, version=version)))
    arena = Arena.create(driver, 100)
    driver.fill(arena.address, 7, 8)
    driver.wait()
    for _ in range(2):
        other = Arena.attach(driver, arena.export(), arena.size_bytes)
        held = ctypes.create_string_buffer(8)
        driver.download(ctypes.addressof(held), other.address, 8)
        assert b"\7" * 8 == held.raw
        other.close()
    arena.close()


@pytest.mark.parametrize("version", cases([ROCM_5_4, ROCM_7_1], always=[ROCM_7_1]))
def test_its_errors_have_names(tmp_path: Path, version: int) -> None:
    driver = HipDriver(str(build_hip(tmp_path, version=version, total_bytes=1 << 20)))
    with pytest.raises(DeviceFull, match="hipErrorOutOfMemory: out of memory"):
        driver.allocate(1 << 21)


@pytest.fixture
def runtime(tmp_path: Path) -> Any:
    library = ctypes.CDLL(str(build_hip(tmp_path)))
    library.fake_launch.argtypes = (ctypes.c_void_p, ctypes.c_int64)
    library.fake_virtual_clock.argtypes = (ctypes.c_int64,)
    library.fake_now.restype = ctypes.c_int64
    return library


@pytest.mark.parametrize("length_us", [5, 20, 100])
def test_calls_are_timed_by_its_events(runtime: Any, length_us: int) -> None:
    """The host's clock would add what waiting takes, and the switch from another process's work."""
    runtime.fake_virtual_clock(200)
    gpu = HipGpu(runtime._name, clock=runtime.fake_now)
    runtime.fake_work_elsewhere()
    _, empty_ns = gpu.timed(lambda: None, (), cold=False)
    runtime.fake_work_elsewhere()
    _, took_ns = gpu.timed(lambda: runtime.fake_launch(None, length_us * 1000), (), cold=False)
    assert abs(took_ns - empty_ns - length_us * 1000) <= 1_000


FINDS = "from kernelbot.harness.inside.gpu.hip_library import hip_library; print(hip_library())"
LOADS = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); "


def found(*arguments: str, code: str = FINDS, **variables: str) -> str:
    given = {**os.environ, **variables}
    return subprocess.check_output([sys.executable, "-c", code, *arguments], env=given, text=True)


@pytest.mark.parametrize("name", ["so.6", "so.7", "so"])
def test_it_is_found_by_the_names_that_packages_give_it(tmp_path: Path, name: str) -> None:
    build_hip(tmp_path, name=name)
    assert f"libamdhip64.{name}\n" == found(LD_LIBRARY_PATH=str(tmp_path))


@pytest.mark.exhaustive
def test_torchs_own_comes_before_the_systems(tmp_path: Path) -> None:
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").touch()
    build_hip(tmp_path)
    torchs = build_hip(tmp_path / "torch" / "lib", name="so")
    places = {"LD_LIBRARY_PATH": str(tmp_path)}
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert f"{torchs}\n" == found(PYTHONPATH=path, **places)


@pytest.mark.exhaustive
def test_torch_may_have_amds_package_bring_it(tmp_path: Path) -> None:
    folder = tmp_path / "_rocm_sdk_core"
    (folder / "lib").mkdir(parents=True)
    (folder / "__init__.py").touch()
    library = build_hip(folder / "lib")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert f"{library}\n" == found(PYTHONPATH=path)


@pytest.mark.exhaustive
def test_the_one_that_is_loaded_comes_first(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    build_hip(other)
    loaded = build_hip(tmp_path)
    assert f"{loaded}\n" == found(str(loaded), code=LOADS + FINDS, LD_LIBRARY_PATH=str(other))


OPENS = """
from kernelbot.harness.inside.gpu.timing import open_driver
from kernelbot.protocol import Vendor
print(*(type(open_driver(vendor=one)).__name__ for one in (None, Vendor.NVIDIA, Vendor.AMD)))
"""


@pytest.mark.exhaustive  # each run has test_memory_is_shared_as_each_version_wants
def test_where_both_vendors_gpus_are_the_jobs_is_opened(tmp_path: Path) -> None:
    build_driver(tmp_path)
    build_hip(tmp_path)
    assert "Driver Driver HipDriver\n" == found(code=OPENS, LD_LIBRARY_PATH=str(tmp_path))


def test_without_one_it_has_its_usual_name() -> None:
    assert "libamdhip64.so\n" == found()
