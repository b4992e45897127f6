"""What runners on a device with a GPU can see."""

import os
from pathlib import Path

import pytest

from kernelbot.harness.gpu.access import GpuAccess, architecture, driver_folders, gpu_access
from kernelbot.harness.sandbox.enclosure import build_command, clean_environment
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from kernelbot.protocol import Vendor


def test_a_cpu_needs_nothing() -> None:
    assert gpu_access(Vendor.CPU) == GpuAccess()


def test_a_driver_in_a_folder_of_its_own_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    (tmp_path / "with" / "libcuda.so.1").touch()
    named = [str(tmp_path / name) for name in ("without", "with", "with")]
    monkeypatch.setenv("LD_LIBRARY_PATH", os.pathsep.join(["", *named]))
    folders = driver_folders()
    access = gpu_access(Vendor.NVIDIA)
    assert (named[1], named[1:2]) == (folders[0], [f for f in access.folders if f in named])


def test_drivers_find_their_devices_in_sysfs() -> None:
    assert {"/sys/devices", "/sys/module"} <= set(gpu_access(Vendor.AMD).folders)


def test_the_operators_choice_among_gpus_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    expected = {"CUDA_VISIBLE_DEVICES": "3", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert expected == gpu_access(Vendor.NVIDIA).env


def test_folders_and_libraries_reach_the_sandbox() -> None:
    config = ZygoteConfig(Flavour.BARE, folders=("/usr/share",), libraries=("/tmp/driver",))
    command = build_command(config, ["true"], {})
    assert "/usr/share" in " ".join(command).split()
    assert clean_environment(config)["LD_LIBRARY_PATH"] == "/interpreter/tmp/driver"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user can't unmount")
@pytest.mark.parametrize(("devices", "times"), [((), 0), (("/dev/null",), 1)])
def test_what_a_container_runtime_has_mounted_over_proc_is_taken_away(
    devices: tuple[str, ...], times: int
) -> None:
    command = build_command(ZygoteConfig(Flavour.BARE, devices=devices), ["true"], {})
    assert times == " ".join(command).count("umount -R /proc/driver/nvidia")


def test_a_toolkits_compiler_is_found_outside_system_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nvvm").mkdir()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    config = ZygoteConfig(Flavour.BARE, devices=("/dev/nvidia0",))
    environment = clean_environment(config, isolated=False)
    assert f"{tmp_path}/bin" in environment["PATH"].split(":")
    assert environment["CUDA_HOME"] == str(tmp_path)


@pytest.mark.parametrize(
    ("arch", "expected"),
    [
        ("90a", "9.0a"),
        ("100a", "10.0a"),
        ("75", "7.5"),
        ("gfx942", None),
        (None, None),
        ("9", None),
    ],
)
def test_torch_compiles_for_the_devices_architecture(
    arch: str | None, expected: str | None
) -> None:
    assert expected == architecture(arch).get("TORCH_CUDA_ARCH_LIST")
