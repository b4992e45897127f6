"""What /proc and /sys tell of the whole machine: covered in a sandbox, where it would show an
author's code what else is being judged, and let two runners that never meet send each other bits.

The description of the machine stays (`cpuinfo`, `meminfo`): libraries choose threads and buffers
by it.
"""

from pathlib import Path

from kernelbot.harness.inside import kernel, kernel_files
from kernelbot.harness.inside.kernel import Mount

_FILES = (
    "/proc/buddyinfo",
    "/proc/cgroups",
    "/proc/diskstats",
    "/proc/interrupts",
    "/proc/loadavg",
    "/proc/locks",
    "/proc/pagetypeinfo",
    "/proc/schedstat",
    "/proc/softirqs",
    "/proc/stat",
    "/proc/timer_list",
    "/proc/uptime",
    "/proc/vmallocinfo",
    "/proc/vmstat",
    "/proc/zoneinfo",
)
"""Counters and lists of all that runs; `uptime` has the time that all processors were idle."""
_FOLDERS = ("/proc/fs", "/proc/irq", "/proc/pressure", "/proc/sys/fs")
_COUNTING_FOLDERS = ("cpu/cpu*/cpuidle", "cpu/cpu*/thermal_throttle", "cpu/cpufreq/policy*/stats")
_COUNTING_FILES = ("node/node*/meminfo", "node/node*/numastat", "node/node*/vmstat")
"""Under /sys/devices/system."""
_EMPTY_FILE = "/dev/null"


def counting_folders(system: Path) -> list[Path]:
    """Folders of /sys/devices/system, here `system`, that count what the processors do."""
    return [path for name in _COUNTING_FOLDERS for path in sorted(system.glob(name))]


def counting_files(system: Path) -> list[Path]:
    """Files there that count what is done with memory. How much there is says /proc/meminfo."""
    return [path for name in _COUNTING_FILES for path in sorted(system.glob(name))]


def covers() -> list[Mount]:
    """The mounts that make them empty for whoever shares a mount namespace, as far as this system
    has them."""
    files = [Mount(_EMPTY_FILE, path, None, kernel.MS_BIND) for path in _FILES]
    flags = kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    options = "nr_inodes=2,mode=0555"
    folders = [Mount("tmpfs", path, "tmpfs", flags, options) for path in _FOLDERS]
    return [cover for cover in (*files, *folders) if kernel_files.exists(cover.target)]
