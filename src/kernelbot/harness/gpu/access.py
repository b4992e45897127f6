"""Which devices and folders runners need to use a GPU."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kernelbot.harness.gpu.nodes import CHOICES, assigned_gpus, near_processors, nvidia_minors
from kernelbot.protocol import Vendor

_SYSFS = ("/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/module")
"""Drivers look for their devices and modules here; without it CUDA fails with error 304. Without
`/sys/dev` libdrm takes a render file for no GPU's, and AMD's runtime doesn't start."""
_DRIVERS = {Vendor.NVIDIA: "libcuda.so.1", Vendor.AMD: "libamdhip64.so*"}
_DRIVER_FOLDERS = {Vendor.NVIDIA: ("/usr/local/nvidia/lib64", "/usr/lib/wsl/lib")}
"""Where containers and Windows put it without telling the dynamic linker."""
_MODPROBE_S = 10
_CONTROL_MINOR = 255
"""The number of `nvidiactl`."""


@dataclass(frozen=True)
class GpuAccess:
    """What a runner on a GPU can see in addition to every other runner: its own GPUs' files, and no
    others'. Empty for a CPU."""

    devices: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Mounted read-only."""
    env: dict[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    """Those of `folders` with the driver's library, if the system wouldn't find it there."""
    processors: tuple[int, ...] = ()
    """Those near the GPU that are ours; empty if that isn't known, or if none is."""
    notes: tuple[str, ...] = ()
    """What readers of a result should know of it."""
    alone: tuple[int, ...] = ()
    """Minor numbers of the render nodes that a filter must leave it, to hide the others; empty: no
    filter is needed."""


def gpu_access(
    vendor: Vendor,
    most: int | None = None,
    *,
    can_filter: Callable[[], bool] = lambda: False,
    root: Path = Path("/"),
) -> GpuAccess:
    """What a runner on a device of `vendor` needs on this machine, to use so many GPUs at `most`;
    None: all that were given to this process. `can_filter`: whether others can be hidden from it,
    asked only if there are any that it would have to see. `root`: as of `assigned_gpus`.

    Raises `SandboxUnavailable` if the GPUs that were given to this process can't be told.
    """
    if vendor is Vendor.CPU:
        return GpuAccess()
    if vendor is Vendor.NVIDIA:
        make_device_files()
    libraries = driver_folders(vendor)
    folders = tuple(path for path in _SYSFS if Path(path).is_dir())
    given = assigned_gpus(vendor, root, most=most)
    alone: tuple[int, ...] = ()
    if given.others and can_filter():
        given = assigned_gpus(vendor, root, most=most, hides_others=True)
        alone = tuple(int(gpu.path.rpartition("renderD")[2]) for gpu in given.gpus)
    near = tuple(sorted(near_processors(given.gpus) & os.sched_getaffinity(0)))
    return GpuAccess(
        given.paths, (*folders, *libraries), given.env, libraries, near, given.notes, alone
    )


def build_access(vendor: Vendor) -> GpuAccess:
    """What a runner needs that only builds: the driver's library, against which is linked, and no
    GPU."""
    libraries = driver_folders(vendor)
    return GpuAccess(folders=libraries, libraries=libraries)


def driver_found(vendor: Vendor) -> dict[str, str]:
    """What makes a process outside of the sandbox find the driver's library where runners do."""
    folders = driver_folders(vendor)
    named = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    path = os.pathsep.join(dict.fromkeys((*filter(None, named), *folders)))
    return {"LD_LIBRARY_PATH": path} if folders else {}


def architecture(arch: str | None) -> dict[str, str]:
    """Tells torch what to compile `load_inline`'s sources for: `9.0a` for `90a`, whose special
    instructions it would leave out by itself. Nothing if `arch` isn't of that form."""
    found = re.fullmatch(r"(\d{1,2})(\d)([af]?)", arch or "")
    return {"TORCH_CUDA_ARCH_LIST": f"{found[1]}.{found[2]}{found[3]}"} if found else {}


def visible_gpus(vendor: Vendor, most: int | None = None) -> tuple[str, ...]:
    """The GPUs that this process may use, the first so many at `most`, by their device files'
    names; by the scheduler's names if no file can be told."""
    given = assigned_gpus(vendor, most=most)
    if given.gpus:
        return tuple(Path(gpu.path).name for gpu in given.gpus)
    named = given.env.get(CHOICES[vendor][0], "").split(",")
    return tuple(word.strip() for word in named if word.strip())[:most]


def make_device_files(root: Path = Path("/")) -> None:
    """Create device files: on first use a driver creates some by a privileged program, which
    runners can't start. After a machine's start there may be none at all, nor its module."""
    helper = shutil.which("nvidia-modprobe")
    there = [(root / "dev" / name).exists() for name in ("nvidiactl", "nvidia-uvm")]
    if helper is None or all(there):
        return
    if not there[0]:
        _run(helper, f"-c{_CONTROL_MINOR}")  # loads the module, which then tells of its GPUs
        _run(helper, *(f"-c{minor}" for minor in nvidia_minors(root)))
    _run(helper, "-u", "-c0")  # with -u it is the first of that module's own files


def _run(*command: str) -> None:
    subprocess.run(command, timeout=_MODPROBE_S, check=False)


def driver_folders(vendor: Vendor) -> tuple[str, ...]:
    """Folders with the driver's library, if LD_LIBRARY_PATH is needed to find it."""
    if vendor not in _DRIVERS:
        return ()
    named = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    usual = _DRIVER_FOLDERS.get(vendor, ())
    folders = dict.fromkeys((*filter(None, named), *usual))
    return tuple(folder for folder in folders if any(Path(folder).glob(_DRIVERS[vendor])))
