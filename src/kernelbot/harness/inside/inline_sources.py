"""Sources that a Python file gives to `load_inline`: compilers name lines of that file, and which
compiler of the host there is we decide."""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any


@dataclass(frozen=True)
class CallersFile:
    """The file that calls `load_inline`. No `text` if it can't be read."""

    name: str
    text: str


def callers_file(frame: FrameType) -> CallersFile:
    """The file whose code is running in `frame`."""
    path = Path(frame.f_code.co_filename)
    try:
        return CallersFile(path.name, path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return CallersFile(path.name, "")


def listed(sources: Any) -> list[str]:
    """What `load_inline` takes as one source or several."""
    return [sources] if isinstance(sources, str) else list(sources or ())


def position(source: str, argument: str, written: CallersFile) -> tuple[str, int]:
    """The file and the line that a source begins at: where it stands in the author's file as it is,
    else the beginning of `argument`, as it is called there."""
    at = written.text.find(source)
    if at < 0:
        return argument, 1
    return written.name, 1 + written.text.count("\n", 0, at)


@contextlib.contextmanager
def systems_compiler() -> Iterator[None]:
    """Torch builds with the system's compiler while the block runs, whichever `CXX` names: a file
    for AMD's GPUs names ROCm's clang, which isn't here, and flags and headers of ours are g++'s."""
    named = os.environ.pop("CXX", None)
    try:
        yield
    finally:
        if named is not None:
            os.environ["CXX"] = named


def with_places(real: Callable[..., Any]) -> Callable[..., Any]:
    """`load_inline` whose compilers name the lines of the author's file."""

    @functools.wraps(real)
    def load_inline(
        name: str, cpp_sources: Any = "", cuda_sources: Any = None, *args: Any, **options: Any
    ) -> Any:
        written = callers_file(sys._getframe(1))
        given = {"cpp_sources": listed(cpp_sources), "cuda_sources": listed(cuda_sources)}
        placed = {
            kind: [
                '#line {1} "{0}"\n{2}'.format(*position(one, f"{kind}[{at}]", written), one)
                for at, one in enumerate(sources)
            ]
            for kind, sources in given.items()
        }
        if placed["cpp_sources"]:
            placed["cpp_sources"][-1] += '\n#line 1 "bindings"'
        return real(name, placed["cpp_sources"], placed["cuda_sources"] or None, *args, **options)

    return load_inline
