"""Where we run: for the result's header and for `doctor`."""

import platform
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from kernelbot.protocol import JobSpec, SystemInfo

CUDA_ON_CPU_NOTE = "torch's cuda calls were mapped to the CPU, for the problem and the submission"


def cpu_model() -> str:
    """The processor's name as /proc/cpuinfo tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()


@cache
def os_name() -> str:
    """The distribution's name and the kernel's release."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        name = platform.system()
    return f"{name}, {platform.system()} {platform.release()}"


def system_info(job: JobSpec, notes: tuple[str, ...] = ()) -> SystemInfo:
    """The header of a result. torch is named where this process has loaded it."""
    torch: Any = sys.modules.get("torch")
    return SystemInfo(
        device=job.device.name,
        cpu=cpu_model(),
        os=os_name(),
        python=platform.python_version(),
        torch=str(torch.__version__) if torch is not None else None,
        notes=notes,
    )
