"""A GPU's clock, set by the vendor's means."""

from pathlib import Path

import pytest

from kernelbot.harness.gpu.clock_rates import UNLOCKED, set_clock
from kernelbot.harness.gpu.nodes import GpuNode
from kernelbot.harness.inside.gpu.driver import GpuError
from kernelbot.protocol import Vendor
from tests.harness.host.vendor.machine import put_nvidia_smi

LEVEL = "sys/class/drm/renderD128/device/power_dpm_force_performance_level"
AMD = GpuNode("/dev/dri/renderD128")


def test_a_gpu_is_named_by_its_uuid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = put_nvidia_smi(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    set_clock(Vendor.NVIDIA, GpuNode("/dev/nvidia3", "GPU-ab"), 1400)
    assert "nvidia-smi --id=GPU-ab --lock-gpu-clocks=1400,1400\n" == calls.read_text()


def test_what_the_tool_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_nvidia_smi(tmp_path, lock="echo Insufficient Permissions >&2; exit 4")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(GpuError, match="nvidia-smi said: Insufficient Permissions"):
        set_clock(Vendor.NVIDIA, GpuNode("/dev/nvidia0"), 1400)


def test_amds_is_released_by_its_file(tmp_path: Path) -> None:
    level = tmp_path / LEVEL
    level.parent.mkdir(parents=True)
    level.write_text("high")
    set_clock(Vendor.AMD, AMD, UNLOCKED, root=tmp_path)
    assert "auto" == level.read_text()


def test_amds_cant_be_locked(tmp_path: Path) -> None:
    with pytest.raises(GpuError, match="set clock_mhz to 0"):
        set_clock(Vendor.AMD, AMD, 1400, root=tmp_path)


def test_one_without_that_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(GpuError, match="No such file or directory"):
        set_clock(Vendor.AMD, AMD, UNLOCKED, root=tmp_path)
