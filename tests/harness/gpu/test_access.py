"""What runners on a device with a GPU can see."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from kernelbot.harness.gpu import access
from kernelbot.harness.gpu.access import (
    GpuAccess,
    architecture,
    driver_folders,
    driver_found,
    gpu_access,
    make_device_files,
)
from kernelbot.harness.inside.machine_wide import counting_files, counting_folders
from kernelbot.harness.sandbox import RunnerClient, Zygote, run_command
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
    folders = driver_folders(Vendor.NVIDIA)
    shown = gpu_access(Vendor.NVIDIA).folders
    assert (named[1], named[1:2]) == (folders[0], [f for f in shown if f in named])


def test_so_is_amds_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libamdhip64.so.7").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nonexistent:{tmp_path}")
    found = gpu_access(Vendor.AMD)
    assert ((str(tmp_path),), True) == (found.libraries, str(tmp_path) in found.folders)


@pytest.mark.parametrize(
    ("named", "found"),
    [("", "{there}"), ("/nonexistent", "/nonexistent:{there}"), ("{there}:/a", "{there}:/a")],
)
def test_the_judge_finds_the_driver_where_runners_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, found: str
) -> None:
    """In a folder that nobody told the dynamic linker of, as Kubernetes' nodes have it."""
    (tmp_path / "libcuda.so.1").touch()
    monkeypatch.setattr(access, "_DRIVER_FOLDERS", {Vendor.NVIDIA: (str(tmp_path),)})
    monkeypatch.setenv("LD_LIBRARY_PATH", named.format(there=tmp_path))
    expected = {"LD_LIBRARY_PATH": found.format(there=tmp_path)}
    assert (expected, {}) == (driver_found(Vendor.NVIDIA), driver_found(Vendor.CPU))


def test_drivers_find_their_devices_in_sysfs() -> None:
    assert {"/sys/dev", "/sys/devices", "/sys/module"} <= set(gpu_access(Vendor.AMD).folders)


def test_what_counts_for_the_whole_machine_stays_covered() -> None:
    """Though all of /sys/devices is shown."""
    system = Path("/sys/devices/system")
    files = " ".join(map(str, counting_files(system)))
    folders = " ".join(map(str, counting_folders(system)))
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE, folders=gpu_access(Vendor.AMD).folders))
    try:
        zygote.wait_ready(60)
        with closing(RunnerClient(zygote.connect())) as client:
            command = f"cat /dev/null {files}; for folder in {folders}; do ls $folder; done"
            shown = run_command(client, ["sh", "-c", command], timeout_s=60)
            kernels = run_command(client, ["ls", "/sys/devices/virtual"], timeout_s=60)
    finally:
        zygote.close()
    assert ("", True) == (shown.stdout, "mem" in kernels.stdout.split())


MAKES = """#!/bin/sh
echo "$*" >> "{root}/calls"
for minor in 0 1; do
    mkdir -p "{root}/proc/driver/nvidia/gpus/$minor"
    echo "Device Minor: $minor" > "{root}/proc/driver/nvidia/gpus/$minor/information"
done
"""
OF_UVM = "-u -c0"
"""The first of that module's own files, and the one behind it: no GPU's."""


@pytest.mark.parametrize(
    ("there", "calls"),
    [
        ((), ["-c255", "-c0 -c1", OF_UVM]),
        (("nvidiactl",), [OF_UVM]),
        (("nvidiactl", "nvidia-uvm"), []),
    ],
)
def test_after_a_machines_start_the_drivers_files_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], calls: list[str]
) -> None:
    """By a program that loads the module first, and only then knows how many GPUs there are."""
    (tmp_path / "dev").mkdir()
    for name in there:
        (tmp_path / "dev" / name).touch()
    program = tmp_path / "nvidia-modprobe"
    program.write_text(MAKES.format(root=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    make_device_files(tmp_path)
    made = tmp_path / "calls"
    assert calls == (made.read_text().splitlines() if made.exists() else [])


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
