"""C code of ours: compiled when a zygote starts, and loaded before it forks, given a compiler."""

import pkgutil
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_COMPILERS = ("gcc", "cc", "clang")
_FLAGS = ("-shared", "-fPIC")
_BUILD_S = 30.0

T = TypeVar("T")


@dataclass(frozen=True)
class Building:
    """A library that is being compiled."""

    compiler: subprocess.Popen[bytes]
    folder: tempfile.TemporaryDirectory[str]
    library: Path


def start_compiling(package: str, name: str, optimization: str) -> Building | None:
    """Start to compile the file `name` of a package, which `load` waits for; None without a
    compiler. `optimization`: gcc's flag."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    source = pkgutil.get_data(package, name)
    if compiler is None or source is None:
        return None
    folder = tempfile.TemporaryDirectory(prefix="kernelbot-native-")
    place = Path(folder.name, name)
    place.write_bytes(source)
    library = place.with_suffix(".so")
    command = [compiler, optimization, *_FLAGS, "-o", str(library), str(place)]
    return Building(subprocess.Popen(command, stdin=subprocess.DEVNULL), folder, library)


def load(building: Building | None, make: Callable[[Path], T]) -> T | None:
    """What `make` makes of the library; None if there is none, which is said on stderr if it should
    have been there. To be called once."""
    if building is None:
        return None
    with building.folder:
        try:
            if building.compiler.wait(_BUILD_S) == 0:
                return make(building.library)
        except (OSError, subprocess.TimeoutExpired) as error:
            building.compiler.kill()
            sys.stderr.write(f"no {building.library.name}: {error}\n")
    return None
