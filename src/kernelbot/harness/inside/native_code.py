"""C code of ours: compiled when a zygote starts, and loaded before it forks, given a compiler."""

import pkgutil
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_COMPILERS = ("gcc", "cc", "clang")
_FLAGS = ("-shared", "-fPIC")
_BUILD_S = 20.0
"""From the compiler's start. Whoever starts a zygote waits for it for 30 s and more."""

T = TypeVar("T")


@dataclass(frozen=True)
class Building:
    """A library that is being compiled, until `end_s` at the latest (`time.monotonic`)."""

    compiler: subprocess.Popen[bytes]
    folder: tempfile.TemporaryDirectory[str]
    library: Path
    end_s: float


def start_compiling(package: str, name: str, optimization: str) -> Building | None:
    """Start to compile the file `name` of a package, which `load` waits for; None without a
    compiler that can be started, which is said on stderr if there is one. `optimization`: gcc's
    flag."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    source = pkgutil.get_data(package, name)
    if compiler is None or source is None:
        return None
    try:
        return _start(compiler, name, source, optimization)
    except OSError as error:  # it isn't a program of this machine, or there is no room for a file
        _say_missing(name, str(error))
        return None


def _start(compiler: str, name: str, source: bytes, optimization: str) -> Building:
    # Of a compiler that is killed, what it has started may still write there.
    folder = tempfile.TemporaryDirectory(prefix="kernelbot-native-", ignore_cleanup_errors=True)
    place = Path(folder.name, name)
    place.write_bytes(source)
    library = place.with_suffix(".so")
    command = [compiler, optimization, *_FLAGS, "-o", str(library), str(place)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    return Building(process, folder, library, time.monotonic() + _BUILD_S)


def load(building: Building | None, make: Callable[[Path], T]) -> T | None:
    """What `make` makes of the library; None if there is none, which is said on stderr if it should
    have been there. To be called once."""
    if building is None:
        return None
    with building.folder:
        try:
            ended = building.compiler.wait(max(0.0, building.end_s - time.monotonic()))
            if ended == 0:
                return make(building.library)
            _say_missing(building.library.name, f"the compiler ended with {ended}")
        except (OSError, subprocess.TimeoutExpired) as error:
            _say_missing(building.library.name, str(error))
            building.compiler.kill()
            building.compiler.wait()
    return None


def _say_missing(name: str, why: str) -> None:
    sys.stderr.write(f"no {name}: {why}\n")
