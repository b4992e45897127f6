"""`kind = "ray"` in the configuration."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kernelbot.domain.errors import UserError
from kernelbot.harness.archive import build
from kernelbot.launchers.ray import RayDevice
from kernelbot.launchers.ray.table import RayTable
from kernelbot.launchers.table import LauncherPlace
from kernelbot.protocol import DeviceSpec, SandboxMode, Vendor
from kernelbot.runs.devices.model import DeviceConfig

VENDORS = {"H100": Vendor.NVIDIA, "CPU": Vendor.CPU}


def place(folder: Path, *devices: str) -> LauncherPlace:
    configs = tuple(DeviceConfig(DeviceSpec(name, VENDORS[name]), ("rays",), 1) for name in devices)
    return LauncherPlace("rays", configs, folder, SandboxMode.REQUIRED, build)


def table(**given: Any) -> RayTable:
    return RayTable.model_validate({"kind": "ray", "address": "10.0.0.1:6379", **given})


def test_a_gpu_is_asked_for_unless_the_device_is_a_cpu(tmp_path: Path) -> None:
    resources = {"accelerator_type:H100": 0.001}
    said = {"H100": {"num_cpus": 8, "resources": resources, "autoscaled": True}}
    devices = table(devices=said).settings(place(tmp_path, "H100", "CPU")).devices
    assert {
        "H100": RayDevice(1.0, 8.0, resources, autoscaled=True),
        "CPU": RayDevice(0.0),
    } == devices


def test_a_device_that_nobody_has_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"launchers\.rays\.devices\.B200"):
        table(devices={"B200": {}}).build(place(tmp_path, "H100"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"address": "auto; id"},
        {"address": "ray://head:10001"},
        {"namespace": "a'; echo x"},
        {"devices": {"H100": {"num_gpus": -1}}},
        {"devices": {"H100": {"resources": {"a b": 1}}}},
        {"devices": {"H100": {"resources": {"lab": 0}}}},
    ],
)
def test_what_ray_would_refuse_is_refused_at_the_start(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        table(**wrong)


def test_rays_package_is_loaded_in_a_process_of_its_own() -> None:
    program = (
        "import sys, kernelbot.launchers.ray.table, kernelbot.launchers.ray.ray_process; "
        "sys.exit('ray' in sys.modules)"
    )
    assert 0 == subprocess.run([sys.executable, "-c", program], check=False).returncode
