"""Where AMD's runtime is: packages for users have it by other names than those for developers, and
torch brings its own."""

import ctypes
import importlib.util
from collections.abc import Iterator
from pathlib import Path

_NAME = "libamdhip64.so"
_NAMES = (f"{_NAME}.7", f"{_NAME}.6", f"{_NAME}.5", _NAME)
_PACKAGES = ("torch", "_rocm_sdk_core")
"""torch for ROCm brings the runtime, or has AMD's package bring it."""


def hip_library() -> str:
    """The library that this process has mapped already: a second one would know nothing of the
    first one's memory. Else the first that can be loaded, torch's before the system's; the usual
    name if there is none."""
    return next(_mapped(), None) or next(filter(_loads, _candidates()), _NAME)


def _mapped() -> Iterator[str]:
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.rpartition(" ")[2]
        if Path(path).name.startswith(_NAME):
            yield path


def _candidates() -> Iterator[str]:
    for package in _PACKAGES:
        found = importlib.util.find_spec(package)
        for folder in found.submodule_search_locations or () if found else ():
            yield from map(str, sorted(Path(folder, "lib").glob(f"{_NAME}*")))
    yield from _NAMES


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
