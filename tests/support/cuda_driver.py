"""Builds the stand-in for NVIDIA's driver."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

_SOURCES = sorted((Path(__file__).parent.parent / "fakes" / "cuda").glob("*.c"))
CACHE_BYTES = 4 << 20
"""What its GPU has for a last-level cache."""


def build_driver(
    folder: Path,
    *,
    virtual_memory: bool = True,
    total_bytes: int | None = None,
    names: Mapping[str, str] | None = None,
    shared: bool = False,
    devices: int = 1,
) -> Path:
    """`libcuda.so.1` in `folder`. `virtual_memory`: with the functions by which memory is shared.
    `total_bytes`: of the device's memory; None: 64 GiB. `names`: what functions are called
    instead, as another vendor's are. `shared`: all processes have the devices between them.
    `devices`: how many there are, each with so much memory."""
    library = folder / "libcuda.so.1"
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=default"]
    if not virtual_memory:
        flags.append("-DWITHOUT_VIRTUAL_MEMORY")
    if total_bytes is not None:
        flags.append(f"-DTOTAL_BYTES={total_bytes}ull")
    flags.append(f"-DDEVICES={devices}")
    flags += [f"-D{name}={other}" for name, other in (names or {}).items()]
    subprocess.run(["cc", *flags, *map(str, _SOURCES), "-o", str(library)], check=True)
    if shared:
        (folder / "occupancy").touch(mode=0o644)
    folder.chmod(0o755)  # runners are somebody else
    return library
