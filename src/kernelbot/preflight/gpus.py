"""The GPUs that a file can be compiled for, and the limits that their makers publish.

NVIDIA: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and the
units of allocation of its occupancy calculator (`cuda_occupancy.h`). AMD: LLVM's "User Guide for
AMDGPU Backend", its `AMDGPUBaseInfo.cpp` and, for scalar registers, `GCNSubtarget.cpp`; CDNA 3 and
CDNA 4 instruction set guides.
"""

from dataclasses import dataclass
from difflib import get_close_matches

from kernelbot.domain.errors import UserError
from kernelbot.protocol import DeviceSpec, Vendor

_KIB = 1024


@dataclass(frozen=True)
class MultiprocessorLimits:
    """What one multiprocessor has (AMD: compute unit). Sizes in bytes."""

    warp_threads: int
    """How many threads work in step: a warp, or AMD's wave."""
    warps: int
    blocks: int
    """The most blocks of several warps each."""
    one_warp_blocks: int
    """The most blocks of one warp each, which need no barrier: AMD's waves find more room then."""
    block_threads: int
    """The most of one block."""
    warp_registers: int
    """Registers of a thread, times the threads in step, are allocated in multiples of this."""
    registers: int
    """The registers that each of `parts` has, for all its threads."""
    parts: int
    """In so many parts a multiprocessor has its registers and warps."""
    thread_registers: int
    """The most of one thread."""
    shared_bytes: int
    block_shared_bytes: int
    """The most of one block."""
    reserved_shared_bytes: int
    """Taken by the system from each block's."""
    shared_unit_bytes: int
    """Shared memory is allocated in multiples of this."""
    scalar_registers: int = 0
    """The scalar registers that each of `parts` has, for all its warps; 0: it has no such."""


@dataclass(frozen=True)
class PreflightGpu:
    """A model that `--gpu` names."""

    name: str
    vendor: Vendor
    arch: str
    """The architecture's name for the compilers."""
    limits: MultiprocessorLimits | None
    """None: the maker's figures for it aren't here."""


def _nvidia(
    threads: int, blocks: int, shared_kib: int, *, reserved_kib: int = 1, unit_bytes: int = 128
) -> MultiprocessorLimits:
    return MultiprocessorLimits(
        warp_threads=32,
        warps=threads // 32,
        blocks=blocks,
        one_warp_blocks=blocks,
        block_threads=1024,
        warp_registers=256,
        registers=16384,
        parts=4,
        thread_registers=255,
        shared_bytes=shared_kib * _KIB,
        block_shared_bytes=(shared_kib - reserved_kib) * _KIB,
        reserved_shared_bytes=reserved_kib * _KIB,
        shared_unit_bytes=unit_bytes,
    )


def _cdna(shared_kib: int, unit_bytes: int) -> MultiprocessorLimits:
    return MultiprocessorLimits(
        warp_threads=64,
        warps=32,
        blocks=16,
        one_warp_blocks=32,
        block_threads=1024,
        warp_registers=8 * 64,
        registers=512 * 64,
        parts=4,
        thread_registers=512,
        shared_bytes=shared_kib * _KIB,
        block_shared_bytes=shared_kib * _KIB,
        reserved_shared_bytes=0,
        shared_unit_bytes=unit_bytes,
        scalar_registers=800,
    )


LIMITS = {
    "75": _nvidia(1024, 16, 64, reserved_kib=0, unit_bytes=256),
    "80": _nvidia(2048, 32, 164),
    "89": _nvidia(1536, 24, 100),
    "90a": _nvidia(2048, 32, 228),
    "100a": _nvidia(2048, 32, 228),
    "gfx942": _cdna(64, 512),
    "gfx950": _cdna(160, 1280),
}
"""By architecture: 7.5, 8.0, 8.9, 9.0, 10.0, CDNA 3, CDNA 4."""
_MODELS = {
    "T4": (Vendor.NVIDIA, "75"),
    "L4": (Vendor.NVIDIA, "89"),
    "A100": (Vendor.NVIDIA, "80"),
    "H100": (Vendor.NVIDIA, "90a"),
    "B200": (Vendor.NVIDIA, "100a"),
    "MI300X": (Vendor.AMD, "gfx942"),
    "MI355X": (Vendor.AMD, "gfx950"),
}
NAMES = tuple(_MODELS)


def gpu_of(device: DeviceSpec) -> PreflightGpu:
    """A configured device as a GPU, under its own name. The letter of an architecture of NVIDIA's
    names instructions, no other chip: 90 has the limits of 90a."""
    arch = device.arch or ""
    return PreflightGpu(
        device.name, device.vendor, arch, LIMITS.get(arch) or LIMITS.get(f"{arch}a")
    )


def find_gpu(name: str) -> PreflightGpu:
    """The model of this name, in upper or lower case. Raises `UserError` with the list."""
    known = {one.casefold(): one for one in NAMES}
    found = known.get(name.casefold())
    if found is None:
        close = get_close_matches(name.casefold(), known)
        guess = f" Did you mean {known[close[0]]}?" if close else ""
        raise UserError(
            f"There is no limits table for the GPU {name[:40]!r}.{guess}",
            hint=f"Known are: {', '.join(NAMES)}.",
        )
    vendor, arch = _MODELS[found]
    return PreflightGpu(found, vendor, arch, LIMITS[arch])
