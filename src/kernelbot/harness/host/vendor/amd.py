"""AMD's driver and clocks, by the files of the kernel's module."""

import os
from collections.abc import Sequence
from pathlib import Path

from kernelbot.harness.gpu.nodes import GpuNode
from kernelbot.harness.host.vendor.finding import VendorFinding

_LEVEL = "device/power_dpm_force_performance_level"


def driver(root: Path = Path("/")) -> VendorFinding:
    """The module, and the file by which processes reach it."""
    module = root / "sys/module/amdgpu"
    if not (root / "dev/kfd").exists():
        advice = "install AMD's driver (amdgpu): there is no /dev/kfd"
        return VendorFinding("driver", False, True, advice)
    try:
        version = (module / "version").read_text().strip()
    except OSError:  # the kernel's own module has none
        version = "of this kernel"
    return VendorFinding("driver", True, True, f"amdgpu {version}")


def clocks(gpus: Sequence[GpuNode], root: Path = Path("/")) -> VendorFinding:
    """Whether the files that set them can be written. Changes nothing."""
    folder = root / "sys/class/drm"
    files = [folder / Path(gpu.path).name / _LEVEL for gpu in gpus]
    shut = [str(path) for path in files if not os.access(path, os.W_OK)]
    if shut:
        return VendorFinding("clocks", False, False, f"can't be locked, so times vary: {shut[0]}")
    return VendorFinding("clocks", True, False, "can be locked: rocm-smi --setperflevel high")
