"""Which GPUs a machine has, by their device files, and which of them this process was given.

The variables by which operators and schedulers choose among GPUs only ask the vendor's library, and
a program may leave that aside. What holds is that a runner finds the device files of its own alone.
That is so with NVIDIA's. AMD's runtime starts only where it can open each GPU that the kernel lets
it see. Where we may, a filter has the kernel let it see its own alone; elsewhere runners are shown
all that whoever judges can open, and only the variable chooses.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import Vendor

_PROC = "proc/driver/nvidia/gpus"
_KFD = "sys/class/kfd/kfd/topology/nodes"
_PCI, _DRM = "sys/bus/pci/devices", "sys/class/drm"
_LOCAL = "local_cpulist"
_SHARED = {
    Vendor.NVIDIA: ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "dxg"),
    Vendor.AMD: ("kfd",),
}
"""Files of the driver itself, which work for a process that can open a GPU's file too. On Windows
(WSL 2) there is no other: `dxg` stands for all GPUs."""
_SLICES = "nvidia-caps"
"""Files of a GPU's slices (MIG), of all of them."""
CHOICES = {
    Vendor.NVIDIA: ("CUDA_VISIBLE_DEVICES",),
    Vendor.AMD: ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
}
"""In the order in which a vendor's libraries obey them: each chooses among what is left. Of AMD's
last two HIP obeys the first that isn't empty."""
_NUMBERING = {Vendor.NVIDIA: {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}}
_SLICE = "MIG-"
_OTHERS_NOTE = (
    "Authors' code can open {count} more of this machine's GPUs than the job's, since AMD's "
    "runtime doesn't start without them: have each GPU judged in a container that has no other"
)


@dataclass(frozen=True)
class GpuNode:
    """One GPU. `path`: the file to open for it. `uuid` as the vendor writes it; None: not known."""

    path: str
    uuid: str | None = None
    near: Path | None = field(default=None, compare=False)
    """The file that lists the processors on its NUMA node; None: not known."""


@dataclass(frozen=True)
class Assigned:
    """The GPUs that this process was given, in its order, and how to name them to a process that
    finds the files of `gpus` and `others` alone."""

    gpus: tuple[GpuNode, ...]
    shared: tuple[str, ...]
    env: dict[str, str]
    others: tuple[GpuNode, ...] = ()
    """GPUs that it wasn't given, without whose files the vendor's library doesn't start."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Everything to be shown."""
        return (*(gpu.path for gpu in (*self.gpus, *self.others)), *self.shared)

    @property
    def notes(self) -> tuple[str, ...]:
        """What readers of a result should know of it."""
        return (_OTHERS_NOTE.format(count=len(self.others)),) if self.others else ()


def assigned_gpus(
    vendor: Vendor,
    root: Path = Path("/"),
    environment: Mapping[str, str] = os.environ,
    *,
    most: int | None = None,
    hides_others: bool = False,
) -> Assigned:
    """What was chosen by the vendor's variables in `environment`; all that can be opened if nothing
    was. `root` is where `dev`, `proc` and `sys` lie. `most`: the first so many of these.
    `hides_others`: the kernel lists no GPU to runners but their own, so no other need be shown.

    Raises `SandboxUnavailable` if a name fits no GPU or several: a process must not be shown more
    than it was given.
    """
    found = gpu_nodes(vendor, root)
    choices = CHOICES.get(vendor, ())
    named = _named(vendor, environment)
    as_said = {**named, **numbering(vendor)}
    shared = _shared_files(vendor, root)
    if not found or (not named and len(found[:most]) == len(found)):
        return Assigned(found, shared + _slices(vendor, root), as_said)
    if any(_SLICE in text for text in named.values()):
        _expect_one_slice(named)
        return _slice(found, shared + _slices(vendor, root), as_said)
    chosen = found
    for name, text in named.items():
        chosen = _choose(chosen, name, text)
    chosen = chosen[:most]
    needed = vendor is Vendor.AMD and not hides_others
    others = tuple(gpu for gpu in found if needed and gpu not in chosen)
    # The libraries number what they find, and they will find these alone, in the machine's order.
    places = sorted((*chosen, *others), key=found.index)
    numbers = ",".join(str(places.index(gpu)) for gpu in chosen)
    return Assigned(chosen, shared, {choices[0]: numbers, **numbering(vendor)}, others)


def _named(vendor: Vendor, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a vendor's libraries obey, as they are set."""
    named = {name: environment[name] for name in CHOICES.get(vendor, ()) if name in environment}
    if vendor is not Vendor.AMD:
        return named
    first, *of_hip = CHOICES[vendor]
    obeyed = next((name for name in of_hip if named.get(name)), first)
    return {name: text for name, text in named.items() if name in (first, obeyed)}


def numbering(vendor: Vendor) -> dict[str, str]:
    """What makes a vendor's library number GPUs as files and operators do, in every process: else
    the judge's first GPU may be another than its runners'."""
    return dict(_NUMBERING.get(vendor, {}))


def near_processors(gpus: Sequence[GpuNode]) -> frozenset[int]:
    """The processors on the NUMA nodes of these GPUs; empty if that isn't known of one of them."""
    found: set[int] = set()
    for gpu in gpus:
        listed = _numbers(_read(gpu.near)) if gpu.near is not None else frozenset()
        if not listed:
            return frozenset()
        found |= listed
    return frozenset(found)


def _numbers(text: str) -> frozenset[int]:
    """The numbers that a list such as `0-3,8` names; empty if it is none."""
    ranges = [part.partition("-") for part in text.strip().split(",")]
    if not all(a.isdecimal() and (b.isdecimal() or not dash) for a, dash, b in ranges):
        return frozenset()
    return frozenset(n for a, _, b in ranges for n in range(int(a), int(b or a) + 1))


def gpu_nodes(vendor: Vendor, root: Path = Path("/")) -> tuple[GpuNode, ...]:
    """The GPU nodes that this process can open, in the order in which the vendor's library numbers
    them."""
    if vendor is Vendor.CPU:
        return ()
    # Opened first: NVIDIA's driver learns a GPU's UUID when it is first used.
    folder, pattern = ("dev", "nvidia") if vendor is Vendor.NVIDIA else ("dev/dri", "renderD")
    usable = {
        int(path.name.removeprefix(pattern)): str(path)
        for path in (root / folder).glob(f"{pattern}*")
        if path.name.removeprefix(pattern).isdecimal() and _can_open(path)
    }
    if vendor is Vendor.AMD:  # other makers' screens have such files, too
        known = _amd_gpus(root)
    else:
        known = _nvidia_gpus(root) or [(minor, None, None) for minor in sorted(usable)]
    return tuple(
        GpuNode(usable[minor], uuid, folder / _LOCAL if folder is not None else None)
        for minor, uuid, folder in known
        if minor in usable
    )


def nvidia_minors(root: Path = Path("/")) -> list[int]:
    """The numbers of the device files of all GPUs that NVIDIA's module has found."""
    return [minor for minor, _, _ in _nvidia_gpus(root)]


def _can_open(path: Path) -> bool:
    """Whether the file's mode and a scheduler's device control group allow it."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False
    return True


_Known = tuple[int, str | None, Path | None]
"""The number of a GPU's device file, its UUID, and its folder below /sys."""


def _nvidia_gpus(root: Path) -> list[_Known]:
    """Each by its place on the PCI bus."""
    found: list[_Known] = []
    for path in sorted((root / _PROC).glob("*/information")):
        text = _read(path)
        minor = re.search(r"^Device Minor:\s*(\d+)\s*$", text, re.MULTILINE)
        uuid = re.search(r"^GPU UUID:\s*(GPU-[0-9a-f-]+)\s*$", text, re.MULTILINE)
        if minor:
            folder = root / _PCI / path.parent.name.lower()
            found.append((int(minor[1]), uuid[1] if uuid else None, folder))
    return found


def _amd_gpus(root: Path) -> list[_Known]:
    """AMD's GPUs, in the order of the driver's topology. Its other nodes are processors."""
    found: list[_Known] = []
    nodes = [path for path in (root / _KFD).glob("*") if path.name.isdecimal()]
    for node in sorted(nodes, key=lambda path: int(path.name)):
        properties = dict(re.findall(r"^(\w+) (\d+)$", _read(node / "properties"), re.MULTILINE))
        minor, unique = (int(properties.get(key, 0)) for key in ("drm_render_minor", "unique_id"))
        if minor:
            folder = root / _DRM / f"renderD{minor}" / "device"
            found.append((minor, f"GPU-{unique:016x}" if unique else None, folder))
    return found


def _read(path: Path) -> str:
    """Nothing where the driver refuses: it hides GPUs that a control group forbids."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _shared_files(vendor: Vendor, root: Path) -> tuple[str, ...]:
    paths = (root / "dev" / name for name in _SHARED.get(vendor, ()))
    return tuple(str(path) for path in paths if path.exists())


def _slices(vendor: Vendor, root: Path) -> tuple[str, ...]:
    path = root / "dev" / _SLICES
    return (str(path),) if vendor is Vendor.NVIDIA and path.is_dir() else ()


def _expect_one_slice(named: Mapping[str, str]) -> None:
    for variable, text in named.items():
        if "," in text:
            raise SandboxUnavailable(
                f"{variable} names {text!r}, and a process can use but one slice of a GPU (MIG) at "
                "a time: name one. Problems of several ranks need as many whole GPUs."
            )


def _slice(found: tuple[GpuNode, ...], shared: tuple[str, ...], env: dict[str, str]) -> Assigned:
    """Whoever gave us a slice has hidden all other GPUs, or it can't be told which one has it."""
    if len(found) > 1:
        raise SandboxUnavailable(
            f"{CHOICES[Vendor.NVIDIA][0]} names a slice of a GPU (MIG), and {len(found)} GPUs can "
            "be opened here: give each slice to a container of its own, which sees nothing else."
        )
    return Assigned(found, shared, env)


def _choose(gpus: Sequence[GpuNode], variable: str, text: str) -> tuple[GpuNode, ...]:
    """The GPUs of `gpus` that a variable's value names, in its order."""
    chosen = [_find(gpus, variable, name.strip()) for name in text.split(",")]
    return tuple(dict.fromkeys(chosen))


def _find(gpus: Sequence[GpuNode], variable: str, name: str) -> GpuNode:
    if name.isdecimal() and name.isascii():
        fits = list(gpus[int(name) : int(name) + 1])
    else:
        # A part of a UUID that no other shares is enough for CUDA.
        is_uuid = name.startswith("GPU-") and len(name) > len("GPU-")
        fits = [gpu for gpu in gpus if is_uuid and (gpu.uuid or "").startswith(name)]
    if len(fits) == 1:
        return fits[0]
    known = ", ".join(f"{i} ({gpu.uuid or gpu.path})" for i, gpu in enumerate(gpus))
    raise SandboxUnavailable(
        f"{variable} names {name!r}, which is {'no GPU' if not fits else 'more than one GPU'} that "
        f"can be opened here. There is: {known}."
    )
