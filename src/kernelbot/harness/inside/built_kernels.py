"""What compilers have said of the kernels in a file's build folders. A command in the sandbox runs
this: only it opens what the author's file has built.

Triton leaves a folder for each kernel that it compiled; `load_inline` leaves libraries, and CuTe
DSL binaries beside their launches, in which `cuobjdump` finds kernels. Of HIP there is what clang
said itself.
"""

import contextlib
import importlib.util
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from kernelbot.harness.inside.gpu.compile_cute import BINARY, LAUNCHES
from kernelbot.harness.inside.gpu.compile_extensions import SAID
from kernelbot.harness.inside.gpu.hip_compiler import kept
from kernelbot.harness.inside.own_builds import CUTE_BINARIES, HIP_KERNELS, TRITON_CACHE, unpack

ARCHIVE = "builds.tar"
TRITON_WORDS = "kernelbot.ptxas"
"""In Triton's folder of a kernel: what ptxas said of it."""
MOST = 1000
"""Kernels that are described."""
_SAID_LENGTH = 4 << 20
_DUMP_S = 12
_GROUP = "__grp__"
_AMD_METADATA = "amdhsa.kernels:"
_AMD_BYTES = 8192


def main() -> None:
    """Inside: print what is known of each kernel in `ARCHIVE`, as a JSON list of objects."""
    home, program = Path.cwd(), _cuobjdump()  # found before anything of the author's is here
    unpack(home, Path(home, ARCHIVE).read_bytes())
    found = [
        *_by_triton(home / TRITON_CACHE),
        *_in_libraries(home / ".cache/torch_extensions", program),
        *_by_cute(home / CUTE_BINARIES, program),
        *({"compiler": "hip", "metadata": one} for one in kept(home / HIP_KERNELS)),
    ]
    json.dump(found[:MOST], sys.stdout)


def _by_triton(cache: Path) -> Iterator[dict[str, str]]:
    """Each with `compiler` `triton`, name and launch, and the compiler's own words."""
    paths = sorted(cache.glob("*/*.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in paths:
        if path.name.startswith(_GROUP):
            continue
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            told = json.loads(path.read_bytes())
            target = told["target"]
            yield {
                "compiler": "triton",
                "name": str(told["name"]),
                "arch": str(target["arch"]),
                "threads": str(int(told["num_warps"]) * int(target["warp_size"])),
                "stages": str(told.get("num_stages", "")),
                "shared_bytes": str(told["shared"]),
                "ptxas": _text(path.with_name(TRITON_WORDS)),
                "amdgcn": _amd_metadata(path.with_suffix(".amdgcn")),
            }


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.is_file() else ""


def _amd_metadata(path: Path) -> str:
    """The last part of an assembler's text, which says what the kernel needs."""
    return _text(path).partition(_AMD_METADATA)[2][:_AMD_BYTES]


def _in_libraries(extensions: Path, program: str | None) -> Iterator[dict[str, str]]:
    """Each library with `compiler` `nvcc`, and what `program` (`cuobjdump`) says of it; of what was
    compiled for a report alone, what nvcc said."""
    for said in sorted(extensions.rglob(f"*{SAID}")):
        with contextlib.suppress(OSError):
            yield {"compiler": "nvcc", "said": said.read_text(errors="replace")[:_SAID_LENGTH]}
    if program is None:
        return
    for library in sorted(extensions.rglob("*.so")):
        told = _resources(library, program) if library.stat().st_size else None
        if told is not None:
            yield {"compiler": "nvcc", "name": library.stem, "resources": told}


def _by_cute(folder: Path, program: str | None) -> Iterator[dict[str, str]]:
    """Each binary with `compiler` `cute`, what `program` says of it, and how it was launched."""
    if program is None:
        return
    deadline = time.monotonic() + _DUMP_S  # there may be a thousand
    for binary in sorted(folder.glob(f"*{BINARY}"), key=lambda path: path.stat().st_mtime_ns):
        told = _resources(binary, program) if time.monotonic() < deadline else None
        if told is not None:
            launches = _text(binary.with_suffix(LAUNCHES))
            yield {"compiler": "cute", "resources": told, "launches": launches}


def _resources(path: Path, program: str) -> str | None:
    command = [program, "--dump-resource-usage", str(path)]
    with contextlib.suppress(subprocess.SubprocessError, OSError):
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_DUMP_S, check=False
        ).stdout
    return None


def _cuobjdump() -> str | None:
    """The toolkit's, or the one that Triton brings along."""
    if found := shutil.which("cuobjdump"):
        return found
    spec = importlib.util.find_spec("triton")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, "backends/nvidia/bin/cuobjdump")
        if path.is_file():
            return str(path)
    return None
