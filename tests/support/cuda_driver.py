"""Builds the fake of NVIDIA's driver."""

import subprocess
from pathlib import Path

_SOURCE = Path(__file__).parent.parent / "fakes" / "cuda_driver.c"
CACHE_BYTES = 4 << 20
"""What its GPU has for a last-level cache."""


def build_driver(folder: Path) -> Path:
    """`libcuda.so.1` in `folder`."""
    library = folder / "libcuda.so.1"
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, str(_SOURCE), "-o", str(library)], check=True)
    folder.chmod(0o755)  # runners are somebody else
    return library
