"""Which packages `scripts/system-packages` asks for; apt is a stand-in that notes its words."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/system-packages"
THERE = ("slurmctld", "slurmd", "sbatch", "munged", "curl", "jq", "bwrap", "g++")
REAL = ("sh", "env", "mktemp", "rm", "cat", "grep")


def program(folder: Path, name: str, text: str = ":") -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def installed(folder: Path, system_has: str, *there: str) -> str:
    """What is installed where the system's index has the packages `system_has`, and the programs
    `there` are there beside others."""
    for name in (*THERE, *there, "python3"):
        program(folder, name)
    for name in REAL:
        (folder / name).symlink_to(shutil.which(name) or name)
    program(folder, "id", "echo 0")
    known = f'case " {system_has} " in *" $one "*) ;; *) exit 100 ;; esac'
    program(folder, "apt-cache", f'shift\nfor one in "$@"; do {known}; done')
    program(folder, "apt-get", f'echo "$@" >> {folder}/asked')
    command = [str(SCRIPT), "python3"]
    subprocess.run(command, env={"PATH": str(folder)}, check=True, capture_output=True)
    asked = folder / "asked"
    lines = asked.read_text().splitlines() if asked.exists() else ["nothing"]
    return lines[-1].rpartition("recommends ")[2]


@pytest.mark.parametrize(
    ("system_has", "there", "asked"),
    [
        ("clang-22 clang-19 rocm-device-libs", (), "clang-22"),
        ("clang-22 clang-19 rocm-device-libs", ("clang++-19",), "clang-22"),
        ("clang-19 rocm-device-libs", (), "clang-19 rocm-device-libs"),
        ("clang-19 rocm-device-libs", ("clang++-19",), "nothing"),
        ("clang-22", ("clang++-22",), "nothing"),
        ("clang-19", (), "nothing"),
        ("", (), "nothing"),
    ],
)
def test_the_newest_clang_of_the_system(
    tmp_path: Path, system_has: str, there: tuple[str, ...], asked: str
) -> None:
    assert asked == installed(tmp_path, system_has, "chromium", *there)


@pytest.mark.parametrize(
    ("system_has", "there", "asked"),
    [
        ("chromium-headless-shell chromium", (), "chromium-headless-shell"),
        ("chromium-headless-shell chromium", ("chromium",), "nothing"),
        ("chromium-headless-shell chromium", ("chromium-headless-shell",), "nothing"),
        ("chromium", (), "chromium"),
        ("", (), "chromium"),
    ],
)
def test_the_browser_that_takes_least_of_a_processor(
    tmp_path: Path, system_has: str, there: tuple[str, ...], asked: str
) -> None:
    assert asked == installed(tmp_path, system_has, *there)
