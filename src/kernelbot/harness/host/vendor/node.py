"""The machine around the GPU: its size, its container runtime, the limits that it sets."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from kernelbot.harness.gpu.asking import ask
from kernelbot.harness.host.vendor.finding import VendorFinding
from kernelbot.harness.inside.machine import machine_memory_bytes
from kernelbot.harness.sandbox import cgroups
from kernelbot.protocol import Vendor

_GIB = 1 << 30
LEAST_MEMORY_BYTES = 16 * _GIB
LEAST_PROCESSORS = 8
LEAST_DISK_BYTES = 50 * _GIB
"""For one agent; twice as much is recommended."""
_UNLIMITED_BYTES = 1 << 60
"""Version 1 writes no limit as the largest number of pages."""
_SLICES = "buildkite.slice/buildkite-gpu*.slice"


def resources() -> VendorFinding:
    """Memory, processors and disk, against what one agent needs at least."""
    memory = machine_memory_bytes()
    processors, disk = os.cpu_count() or 1, shutil.disk_usage("/").free
    text = f"{memory / _GIB:.0f} GiB memory, {processors} processors, {disk / _GIB:.0f} GiB free"
    # What a machine sells as 16 GB is a little less for the kernel's own part.
    enough = (
        memory >= 0.9 * LEAST_MEMORY_BYTES
        and processors >= LEAST_PROCESSORS
        and disk >= LEAST_DISK_BYTES
    )
    least = "an agent needs 16 GiB, 8 processors and 50 GiB at least, better twice that"
    return VendorFinding("machine", enough, False, text if enough else f"{text}; {least}")


def container_runtime(vendor: Vendor) -> VendorFinding:
    """What starts the runner image. Slurm and GitHub's runners do without."""
    found = next((name for name in ("docker", "podman") if shutil.which(name)), None)
    if found is None:
        note = "neither docker nor podman is installed: Buildkite's jobs need one of them"
        return VendorFinding("container runtime", None, False, note)
    answered, line = ask(found, "version", "--format", "{{.Client.Version}}")
    if not answered:
        return VendorFinding("container runtime", False, False, f"{found}: {line}")
    note = f"{found} {line}"
    if vendor is Vendor.NVIDIA:
        answered, line = ask("nvidia-ctk", "--version")
        if not answered:
            note += f"; install NVIDIA's container toolkit, or containers see no GPU: {line}"
            return VendorFinding("container runtime", False, False, note)
        note += f", {line}"
    return VendorFinding("container runtime", True, False, note)


def limits(root: Path = Path("/sys/fs/cgroup")) -> Iterator[VendorFinding]:
    """What bounds this process, each Buildkite agent of the machine, and each runner to come."""
    bounds = _bounds(_own_groups(root))
    advice = "nothing bounds what a job uses but its own limits: see the guide of your scheduler"
    yield VendorFinding("limits here", bool(bounds), False, bounds or advice)
    for folder in sorted(root.glob(_SLICES)):
        bounds = _bounds([folder])
        yield VendorFinding(
            f"limits of {folder.stem}", bool(bounds), False, bounds or "none is set"
        )
    found = cgroups.detect()
    if found.missing:
        note = "; ".join(found.missing)
        yield VendorFinding("limits of runners", False, False, f"as root, or delegated: {note}")
    else:
        yield VendorFinding("limits of runners", True, False, ", ".join(found.in_force))


def _own_groups(root: Path) -> list[Path]:
    """This process's groups and all that they lie in, of either version."""
    groups = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for base in (root / name for name in controllers.split(",")) if controllers else (root,):
            own = base / path.lstrip("/")
            groups += [own, *(folder for folder in own.parents if folder.is_relative_to(base))]
    return groups


def _bounds(groups: list[Path]) -> str:
    """The narrowest of all, in words; nothing if there is none."""
    memory = [size for folder in groups for size in _memory_bytes(folder)]
    processors = [share for folder in groups for share in _processors(folder)]
    limits = [f"{min(memory) / _GIB:.1f} GiB memory"] if memory else []
    limits += [f"{min(processors):g} processors"] if processors else []
    return ", ".join(limits)


def _memory_bytes(folder: Path) -> Iterator[int]:
    for name in ("memory.max", "memory.limit_in_bytes"):
        text = _text(folder / name)
        if text.isdecimal() and int(text) < _UNLIMITED_BYTES:
            yield int(text)


def _processors(folder: Path) -> Iterator[float]:
    words = _text(folder / "cpu.max").split()
    if not words:
        words = [_text(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period")]
    if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]) > 0:
        yield int(words[0]) / int(words[1])


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
