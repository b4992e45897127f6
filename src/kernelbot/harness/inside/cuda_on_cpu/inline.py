"""`load_inline` with CUDA or HIP sources, where no GPU is: they become a C++ extension of torch.

Installed in a process of the author's, beside the mapping of torch's calls to the CPU.
"""

import functools
import importlib
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kernelbot.harness.inside.cuda_on_cpu.arguments import with_arguments_known
from kernelbot.harness.inside.cuda_on_cpu.headers import (
    CHECKED_FLAGS,
    CHECKED_LINKING,
    FOLDER,
    HIP_FLAGS,
    torch_header_files,
)
from kernelbot.harness.inside.cuda_on_cpu.hip import is_hip
from kernelbot.harness.inside.cuda_on_cpu.rewriting import rewrite
from kernelbot.harness.inside.inline_sources import (
    CallersFile,
    callers_file,
    listed,
    position,
    systems_compiler,
)
from kernelbot.harness.inside.own_builds import began_ns

CHECKED = "KERNELBOT_CHECKED"
"""Variable for the forker, which removes it: accesses of memory are looked at."""
_FOLDER = Path(".cache", "torch_extensions", FOLDER)
"""In the author's home, where all phases have what was built."""
_FLAGS = (
    "-std=c++20",
    "-O1",
    "-g1",
    "-w",
    "-ffp-contract=fast",
    "-fno-strict-aliasing",
    "-fno-threadsafe-statics",
    "-fno-gnu-unique",
    "-fwrapv",
    "-fstack-clash-protection",
)
_NVCC_ALONE = ("extra_cuda_cflags", "with_cuda")
_DRIVER = ("-lcu", "-lnv", "-lamdhip", "-lhip", "-lroc")


def cpu_flags(flags: Iterable[str], *, checked: bool = False, hip: bool = False) -> tuple[str, ...]:
    """With which flags of g++ an extension is compiled whose own are `flags`. `checked`: each
    access of memory in its kernels is looked at. `hip`: its sources are HIP."""
    own = (*_FLAGS, *(HIP_FLAGS if hip else ()), *(CHECKED_FLAGS if checked else ()))
    return (*own, *(flag for flag in flags if not flag.startswith(("-O", "-std"))))


def install(*, checked: bool = False) -> None:
    """Have `load_inline` build CUDA sources for the processor in this process until it ends. Needs
    torch. Idempotent. `checked`: see `cpu_flags`."""
    extension: Any = importlib.import_module("torch.utils.cpp_extension")
    if not hasattr(extension.load_inline, "on_cpu"):
        extension.load_inline = _mapped(extension.load_inline, checked=checked)


def _mapped(real: Callable[..., Any], *, checked: bool) -> Callable[..., Any]:
    @functools.wraps(real)
    def load_inline(
        name: str, cpp_sources: Any = "", cuda_sources: Any = None, *args: Any, **options: Any
    ) -> Any:
        if not cuda_sources:
            return real(name, cpp_sources, cuda_sources, *args, **options)
        written = callers_file(sys._getframe(1))
        given = {"cpp_sources": listed(cpp_sources), "cuda_sources": listed(cuda_sources)}
        hip = is_hip(source for sources in given.values() for source in sources)
        pieces = [f'#include "cuda_on_cpu_{"hip_" if hip else ""}torch.h"']
        for kind, sources in given.items():
            for index, source in enumerate(sources):
                pieces += _placed(source, f"{kind}[{index}]", written, hip=hip)
        pieces.append('#line 1 "bindings"')
        options = _for_cpu(options, checked=checked, hip=hip)
        with systems_compiler():
            module = real(name, ["\n".join(pieces)], None, *args, **options)
        return with_arguments_known(module) if checked else module

    load_inline.on_cpu = True  # type: ignore[attr-defined]  # the mark that `install` looks for
    return load_inline


def _placed(source: str, argument: str, written: CallersFile, *, hip: bool) -> list[str]:
    """A source for the processor, with its place. Raises `NotCovered`."""
    name, line = position(source, argument, written)
    return [f'#line {line} "{name}"', rewrite(name, source, line, hip=hip)]


def _for_cpu(options: dict[str, Any], *, checked: bool, hip: bool) -> dict[str, Any]:
    """The options of `load_inline` without what only nvcc understands, with what our headers need.
    The folder is written anew with the time that all builds have, so nothing is built again."""
    for path, content in torch_header_files().items():
        target = Path.home() / _FOLDER.parent / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        os.utime(target, ns=(began_ns(), began_ns()))
    kept = {key: value for key, value in options.items() if key not in _NVCC_ALONE}
    links = [flag for flag in kept.get("extra_ldflags") or () if not flag.startswith(_DRIVER)]
    paths = [str(Path.home() / _FOLDER), *(kept.get("extra_include_paths") or ())]
    return kept | {
        "extra_cflags": list(cpu_flags(kept.get("extra_cflags") or (), checked=checked, hip=hip)),
        "extra_ldflags": [*links, *(CHECKED_LINKING if checked else ())],
        "extra_include_paths": paths,
    }
