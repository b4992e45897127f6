"""Where clang, HIP's headers and AMD's device libraries are, with which HIP is compiled for a GPU
that isn't here.

ROCm has all of them. Without it a clang of the system's is used, the headers that Triton brings
along (HIP's runtime, without 16-bit and 8-bit floating point, for which ours stand in), and the
device libraries of the system's package, or Triton's.
"""

import importlib.util
import os
import pkgutil
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kernelbot.harness.inside.cuda_on_cpu.headers import TORCH_HIP_HEADERS

_NEWEST, _OLDEST = 40, 17
"""Versions of clang that are looked for; the oldest is the first that knows a gfx942."""
_FIRST = {"gfx942": 17, "gfx950": 20}
"""LLVM's release in which each was new."""
_TRITONS_CLANG = 20
"""Triton's device libraries are read by this clang and by later ones."""
_LIBRARIES = ("ocml.bc", "ockl.bc")
_SYSTEMS_LIBRARIES = ("/usr/lib/*/amdgcn/bitcode", "/usr/amdgcn/bitcode", "/usr/lib/amdgcn/bitcode")
_VERSION = re.compile(r"clang version (\d{1,3})")
_VERSION_S = 30
_HEADERS = {
    "kernelbot_half.h": ("hip/hip_fp16.h", "hip/hip_bf16.h", "hip/hip_bfloat16.h",
                   "hip/amd_detail/amd_hip_fp16.h", "hip/amd_detail/amd_hip_bf16.h"),
    "kernelbot_fp8.h": ("hip/hip_fp8.h", "hip/amd_detail/amd_hip_fp8.h"),
    "kernelbot_groups.h": ("hip/hip_cooperative_groups.h",
                     "hip/amd_detail/amd_hip_cooperative_groups.h"),
    "kernelbot_complex.h": ("thrust/complex.h",),
    "kernelbot_torch.h": TORCH_HIP_HEADERS,
}  # fmt: skip
"""Our headers, and those for which each stands in."""


@dataclass(frozen=True)
class Clang:
    """A clang with its major version; 0: it isn't known."""

    path: str
    version: int


@dataclass(frozen=True)
class HipToolchain:
    """All that compiles HIP. `libraries` empty: there are none that this clang can read."""

    clang: Clang
    headers: str
    libraries: tuple[str, ...]


class NoHipToolchain(Exception):
    """Something is missing; the text says what, and what to do."""


def toolchain_name(arch: str) -> str:
    """What reports depend on: other tools have another name. The empty text if HIP can't be
    compiled."""
    try:
        return repr(find_toolchain(arch))
    except NoHipToolchain:
        return ""


def find_toolchain(arch: str) -> HipToolchain:
    """Raises `NoHipToolchain`."""
    clang, headers = find_clang(), _headers()
    if clang is None:
        raise NoHipToolchain(
            f"HIP is compiled by clang {_FIRST.get(arch, _OLDEST)} or later, and none was found "
            "here: install it, as `apt install clang-19` does, or ROCm."
        )
    if 0 < clang.version < _FIRST.get(arch, 0):
        raise NoHipToolchain(too_old(clang, arch))
    if headers is None:
        raise NoHipToolchain(
            "HIP's headers were not found here: install Triton, which brings them along "
            "(`pip install '.[preflight]'`), or ROCm."
        )
    return HipToolchain(clang, headers, _libraries(clang))


def too_old(clang: Clang, arch: str) -> str:
    """A sentence about a clang that doesn't know the GPU."""
    need = f": clang {_FIRST[arch]} or later does, or ROCm's" if arch in _FIRST else ""
    found = clang.version or clang.path
    return f"The clang that is installed here ({found}) doesn't know {arch}{need}."


def find_clang() -> Clang | None:
    """ROCm's, else the newest of those with a version in their names, else `clang++`."""
    rocm = _rocm() / "llvm/bin/clang++"
    if rocm.is_file():
        return _asked(str(rocm))
    for version in range(_NEWEST, _OLDEST - 1, -1):
        if path := shutil.which(f"clang++-{version}"):
            return Clang(path, version)
    path = shutil.which("clang++")
    return _asked(path) if path else None


def _asked(path: str) -> Clang:
    try:
        said = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=False, timeout=_VERSION_S
        ).stdout
    except (OSError, subprocess.SubprocessError):
        said = ""
    found = _VERSION.search(said)
    return Clang(path, int(found[1]) if found else 0)


def _rocm() -> Path:
    return Path(os.environ.get("ROCM_PATH", "/opt/rocm"))


def _headers() -> str | None:
    triton = _triton()
    places = [_rocm() / "include", *([triton / "include"] if triton else ())]
    return next((str(one) for one in places if (one / "hip/hip_runtime.h").is_file()), None)


def _libraries(clang: Clang) -> tuple[str, ...]:
    places = [_rocm() / "amdgcn/bitcode"]
    triton = _triton()
    if triton is not None and clang.version >= _TRITONS_CLANG:
        places.append(triton / "lib")
    for pattern in _SYSTEMS_LIBRARIES:
        places += sorted(Path("/").glob(pattern.removeprefix("/")))
    for place in places:
        files = [place / name for name in _LIBRARIES]
        if all(file.is_file() for file in files):
            return tuple(map(str, files))
    return ()


def _triton() -> Path | None:
    spec = importlib.util.find_spec("triton")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        return Path(folder, "backends/amd")
    return None


def header_files() -> dict[str, bytes]:
    """Our headers, by their paths in a folder that is searched after all others."""
    files = {}
    for own, names in _HEADERS.items():
        content = pkgutil.get_data(__package__, f"hip_headers/{own}")
        assert content is not None, f"{own} is packaged with this module"
        files[own] = content
        files |= {name: f'#include "{own}"\n'.encode() for name in names}
    return files
