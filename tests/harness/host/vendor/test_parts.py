"""Each part of a node by itself, from what files and programs tell."""

import os
from pathlib import Path

import pytest

from kernelbot.harness.gpu.asking import ask
from kernelbot.harness.gpu.nodes import GpuNode
from kernelbot.harness.host.vendor import amd, node, nvidia
from kernelbot.harness.host.vendor.check import vendor_here
from kernelbot.protocol import Vendor
from tests.harness.host.vendor.machine import put_nvidia_smi

GPU = GpuNode("/dev/dri/renderD128")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first on PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("file", "vendor"),
    [
        ("nvidiactl", Vendor.NVIDIA),
        ("nvidia0", Vendor.NVIDIA),
        ("kfd", Vendor.AMD),
        ("x", Vendor.CPU),
    ],
)
def test_the_vendor_is_known_by_its_drivers_files(
    tmp_path: Path, file: str, vendor: Vendor
) -> None:
    put(tmp_path / "dev" / file, "")
    assert vendor == vendor_here(tmp_path)


def test_exclusive_compute_mode_is_refused(programs: Path) -> None:
    put_nvidia_smi(programs, mode="Exclusive_Process")
    found = nvidia.driver()
    assert (False, True) == (found.ok, found.needed)
    assert "--compute-mode=DEFAULT" in found.note


def test_clocks_that_cannot_be_locked_are_told_and_not_needed(programs: Path) -> None:
    put_nvidia_smi(programs, lock="echo Insufficient Permissions >&2; exit 4")
    found = nvidia.clocks([GpuNode("/dev/nvidia0")])
    assert (False, False) == (found.ok, found.needed)
    assert found.note.endswith("Insufficient Permissions")


def test_amds_driver_has_a_version_or_is_the_kernels_own(tmp_path: Path) -> None:
    put(tmp_path / "dev/kfd", "")
    own = amd.driver(tmp_path)
    put(tmp_path / "sys/module/amdgpu/version", "6.12.12\n")
    assert [True, "amdgpu of this kernel", "amdgpu 6.12.12"] == [
        own.ok,
        own.note,
        amd.driver(tmp_path).note,
    ]


def test_amds_clocks_are_set_by_a_file(tmp_path: Path) -> None:
    missing = amd.clocks([GPU], tmp_path)
    level = tmp_path / "sys/class/drm/renderD128/device/power_dpm_force_performance_level"
    put(level, "auto\n")
    assert [False, True, "auto\n"] == [
        missing.ok,
        amd.clocks([GPU], tmp_path).ok,
        level.read_text(),
    ]


def test_the_limits_of_each_agent_are_told(tmp_path: Path) -> None:
    for gpu, memory in enumerate(("34359738368\n", "max\n")):
        folder = tmp_path / f"buildkite.slice/buildkite-gpu{gpu}.slice"
        put(folder / "memory.max", memory)
        put(folder / "cpu.max", "1600000 100000\n" if gpu == 0 else "max 100000\n")
    found = {finding.name: (finding.ok, finding.note) for finding in node.limits(tmp_path)}
    assert (True, "32.0 GiB memory, 16 processors") == found["limits of buildkite-gpu0"]
    assert (False, "none is set") == found["limits of buildkite-gpu1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo; echo ' 27.1 '; echo more", (True, "27.1")),
        ("exit 3", (False, "it said nothing")),
        ("echo no daemon >&2; exit 1", (False, "no daemon")),
        ("printf '\\377\\n'", (True, "\ufffd")),
    ],
)
def test_a_programs_first_line_counts(
    programs: Path, text: str, expected: tuple[bool, str]
) -> None:
    put(programs / "docker", f"#!/bin/sh\n{text}\n")
    (programs / "docker").chmod(0o755)
    assert expected == ask("docker", "version")


def test_a_program_that_is_not_there_or_does_not_run_is_told(programs: Path) -> None:
    put(programs / "broken", "")
    (programs / "broken").chmod(0o755)
    assert (False, "not-there-at-all isn't installed") == ask("not-there-at-all")
    assert (False, "broken doesn't run: Exec format error") == ask("broken")
