"""Which devices and folders runners need to use a GPU; and checks that zygotes don't open it."""

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from kernelbot.protocol import Vendor

_DEVICE_FILES = {Vendor.NVIDIA: ("nvidia*",), Vendor.AMD: ("kfd", "dri")}
_OPENED_BY_DRIVERS = ("/dev/nvidia", "/dev/kfd", "/dev/dri")
_SYSFS = ("/sys/bus", "/sys/class", "/sys/devices", "/sys/module")
"""Drivers look for their devices and modules here; without it CUDA fails with error 304."""
_DRIVER = "libcuda.so.1"
_DRIVER_FOLDERS = ("/usr/local/nvidia/lib64", "/usr/lib/wsl/lib")
_CHOICES = {
    Vendor.NVIDIA: ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"),
    Vendor.AMD: ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
}
"""Variables by which the operator selects GPUs; judges and runners must use the same ones."""
_MODPROBE_S = 10


@dataclass(frozen=True)
class GpuAccess:
    """What a runner on a GPU can see in addition to every other runner. Empty for a CPU."""

    devices: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Mounted read-only."""
    env: dict[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    """Those of `folders` with the driver's library, if the system wouldn't find it there."""


def gpu_access(vendor: Vendor) -> GpuAccess:
    """What a runner on a device of `vendor` needs on this machine."""
    if vendor is Vendor.CPU:
        return GpuAccess()
    if vendor is Vendor.NVIDIA:
        _make_device_files()
    libraries = driver_folders() if vendor is Vendor.NVIDIA else ()
    env = {name: os.environ[name] for name in _CHOICES[vendor] if name in os.environ}
    folders = tuple(path for path in _SYSFS if Path(path).is_dir())
    return GpuAccess(_device_files(vendor), (*folders, *libraries), env, libraries)


def _device_files(vendor: Vendor) -> tuple[str, ...]:
    return tuple(
        str(path)
        for pattern in _DEVICE_FILES[vendor]
        for path in sorted(Path("/dev").glob(pattern))
    )


def _make_device_files() -> None:
    """Create device files: on first use a driver creates some by a privileged program, which
    runners can't start."""
    helper = shutil.which("nvidia-modprobe")
    if helper is None or not Path("/dev/nvidiactl").exists() or Path("/dev/nvidia-uvm").exists():
        return
    subprocess.run([helper, "-c0", "-u"], timeout=_MODPROBE_S, check=False)


def driver_folders() -> tuple[str, ...]:
    """Folders with libcuda, if LD_LIBRARY_PATH is needed to find it."""
    named = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return tuple(
        dict.fromkeys(
            folder for folder in (*named, *_DRIVER_FOLDERS) if Path(folder, _DRIVER).is_file()
        )
    )


def open_devices(prefixes: tuple[str, ...] = _OPENED_BY_DRIVERS) -> list[str]:
    """The GPU's device files that this process has open.

    A zygote must have none: a driver that was initialised before a fork doesn't work after it.
    """
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:  # the descriptor of this very listing
            continue
        if target.startswith(prefixes):
            found.append(target)
    return found
