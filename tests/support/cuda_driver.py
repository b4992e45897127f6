"""Builds the stand-ins for NVIDIA's driver and for AMD's runtime."""

import struct
import subprocess
from pathlib import Path

_SOURCES = sorted((Path(__file__).parent.parent / "fakes" / "cuda").glob("*.c"))
_HIP = Path(__file__).parent.parent / "fakes" / "hip" / "hip.c"
_FLAGS = ("-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror")
CACHE_BYTES = 4 << 20
"""What its GPU has for a last-level cache."""


def break_device(folder: Path, code: int) -> None:
    """From now on all work on the device of the driver in `folder` fails with this code."""
    with (folder / "gpu").open("r+b") as file:
        file.write(struct.pack("q", code))


def build_driver(
    folder: Path,
    *,
    virtual_memory: bool = True,
    total_bytes: int | None = None,
    shared: bool = False,
    devices: int = 1,
) -> Path:
    """`libcuda.so.1` in `folder`. `virtual_memory`: with the functions by which memory is shared.
    `total_bytes`: of the device's memory; None: 64 GiB. `shared`: all processes have
    the devices between them. `devices`: how many there are, each with so much memory."""
    library = folder / "libcuda.so.1"
    flags = [*_FLAGS, "-fvisibility=default"]
    if not virtual_memory:
        flags.append("-DWITHOUT_VIRTUAL_MEMORY")
    if total_bytes is not None:
        flags.append(f"-DTOTAL_BYTES={total_bytes}ull")
    flags.append(f"-DDEVICES={devices}")
    subprocess.run(["cc", *flags, *map(str, _SOURCES), "-o", str(library)], check=True)
    (folder / "gpu").touch(mode=0o644)  # what processes notice of each other
    if shared:
        (folder / "occupancy").touch(mode=0o644)
    folder.chmod(0o755)  # runners are somebody else
    return library


def build_hip(
    folder: Path, *, version: int = 70_100_000, total_bytes: int = 1 << 36, name: str = "so.7"
) -> Path:
    """`libamdhip64.` and `name` in `folder`: AMD's runtime of a version, as
    `hipRuntimeGetVersion` says it (10,000,000 for each major, 100,000 for each minor)."""
    library = folder / f"libamdhip64.{name}"
    flags = [*_FLAGS, f"-DVERSION={version}"]
    flags.append(f"-DTOTAL_BYTES={total_bytes}ull")
    exported = folder / "exported"
    exported.write_text("{ global: hip*; fake_*; local: *; };")
    flags.append(f"-Wl,--version-script={exported}")
    subprocess.run(["cc", *flags, str(_HIP), *map(str, _SOURCES), "-o", str(library)], check=True)
    (folder / "gpu").touch(mode=0o644)
    folder.chmod(0o755)
    return library
