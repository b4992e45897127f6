"""Builds the stand-ins for NVIDIA's driver and for AMD's runtime."""

import functools
import struct
import subprocess
import tempfile
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
    flags = ["-fvisibility=default"]
    if not virtual_memory:
        flags.append("-DWITHOUT_VIRTUAL_MEMORY")
    if total_bytes is not None:
        flags.append(f"-DTOTAL_BYTES={total_bytes}ull")
    flags.append(f"-DDEVICES={devices}")
    library = _lay(folder / "libcuda.so.1", _compiled(tuple(flags), ()))
    if shared:
        (folder / "occupancy").touch(mode=0o644)
    return library


def build_hip(
    folder: Path, *, version: int = 70_100_000, total_bytes: int = 1 << 36, name: str = "so.7"
) -> Path:
    """`libamdhip64.` and `name` in `folder`: AMD's runtime of a version, as
    `hipRuntimeGetVersion` says it (10,000,000 for each major, 100,000 for each minor)."""
    flags = (f"-DVERSION={version}", f"-DTOTAL_BYTES={total_bytes}ull")
    return _lay(folder / f"libamdhip64.{name}", _compiled(flags, (_HIP,), exported="hip*"))


@functools.cache
def _compiled(
    flags: tuple[str, ...], sources: tuple[Path, ...], exported: str | None = None
) -> bytes:
    """A library of these and the common sources. `exported`: which functions it has besides the
    stand-in's own; None: all. A library keeps state, so that each test has a file of its own; but
    compiling takes a second."""
    with tempfile.TemporaryDirectory() as folder:
        if exported is not None:
            script = Path(folder, "exported")
            script.write_text(f"{{ global: {exported}; fake_*; local: *; }};")
            flags = (*flags, f"-Wl,--version-script={script}")
        library = Path(folder, "library")
        files = [str(source) for source in (*sources, *_SOURCES)]
        subprocess.run(["cc", *_FLAGS, *flags, *files, "-o", str(library)], check=True)
        return library.read_bytes()


def _lay(library: Path, content: bytes) -> Path:
    library.write_bytes(content)
    library.chmod(0o755)
    (library.parent / "gpu").touch(mode=0o644)  # what processes notice of each other
    library.parent.chmod(0o755)  # runners are somebody else
    return library
