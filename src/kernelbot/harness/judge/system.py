"""Where we run: for the result's header and for `doctor`."""

import platform
import re
import sys
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from kernelbot.protocol import HarnessKind, JobSpec, SystemInfo

CUDA_ON_CPU_NOTE = "torch's cuda calls were mapped to the CPU, for the problem and the submission"


@cache
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


def detect() -> None:
    """Find out what stays the same, for this process and its forks."""
    cpu_model()
    os_name()
    platform.python_version()


def system_info(
    job: JobSpec,
    notes: tuple[str, ...] = (),
    processors: int | None = None,
    threads: int | None = None,
) -> SystemInfo:
    """A result's header. torch is named if this process, or the problem's script, has it."""
    return SystemInfo(
        device=job.device.name,
        cpu=cpu_model(),
        os=os_name(),
        python=platform.python_version(),
        torch=_torch_version(job),
        notes=notes,
        processors=processors,
        threads=threads,
    )


def _torch_version(job: JobSpec) -> str | None:
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        return str(torch.__version__)
    texts = [file.text for file in job.problem.files] + [job.submission.text]
    if job.problem.harness is HarnessKind.SCRIPT and any("torch" in text for text in texts):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version("torch")
    return None
