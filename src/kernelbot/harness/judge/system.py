"""Where we run: for the result's header and for `doctor`."""

import importlib.util
import platform
import re
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

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


@cache
def torch_version() -> str | None:
    """The version by which torch knows itself, which need not be loaded; None if it isn't
    installed."""
    found = importlib.util.find_spec("torch")
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        with suppress(OSError):
            text = Path(folder, "version.py").read_text(encoding="utf-8")
            if told := re.search(r"""^__version__ = ['"](.+)['"]$""", text, re.MULTILINE):
                return told.group(1)
    with suppress(metadata.PackageNotFoundError):
        return metadata.version("torch")
    return None


def detect() -> None:
    """Find out what stays the same, for this process and its forks."""
    cpu_model()
    os_name()
    torch_version()
    platform.python_version()


def system_info(
    job: JobSpec,
    notes: tuple[str, ...] = (),
    processors: int | None = None,
    threads: int | None = None,
    *,
    with_torch: bool = False,
) -> SystemInfo:
    """A result's header. torch is named if runners have it loaded (`with_torch`), or if the
    problem's script mentions it."""
    return SystemInfo(
        device=job.device.name,
        cpu=cpu_model(),
        os=os_name(),
        python=platform.python_version(),
        torch=torch_version() if with_torch or _is_in_script(job) else None,
        notes=notes,
        processors=processors,
        threads=threads,
    )


def _is_in_script(job: JobSpec) -> bool:
    texts = [file.text for file in job.problem.files] + [job.submission.text]
    return job.problem.harness is HarnessKind.SCRIPT and any("torch" in text for text in texts)
