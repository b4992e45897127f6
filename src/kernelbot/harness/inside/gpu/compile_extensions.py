"""Extensions of torch with CUDA sources, compiled for a report alone: kernels are compiled as they
always are, functions of the host are read and checked, and nothing is linked or loaded.

nvcc reads torch's headers three times, twice of them for the host, and g++ makes code of what it
has read. No report needs that code. What ninja is told is changed, and only if torch has written
the commands that are known here; else all is built.
"""

import functools
import importlib
import inspect
import re
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from kernelbot.harness.inside.gpu.few_headers import CUDAS, FEW, write_headers
from kernelbot.harness.inside.gpu.gpu_model import GpuModel
from kernelbot.harness.inside.gpu.not_loaded import NotLoaded
from kernelbot.harness.inside.inline_sources import with_places
from kernelbot.protocol import Vendor

SAID = ".said"
"""What nvcc said of a source's kernels, beside what it made of them."""
_HEADERS = ".cache/kernelbot/few_headers"
"""In the author's home."""
_COMPILE = "  command = $cxx -MMD -MF $out.d $cflags -c $in -o $out $post_cflags\n"
_CHECK = "$cxx -MMD -MF $out.d -MT $out {0}$cflags -fsyntax-only $in $post_cflags && : > $out"
_NVCC = re.compile(r"  command = \$nvcc (.*)\$cuda_cflags -c \$in -o \$out \$cuda_post_cflags\n")
_KERNELS = "{0}$cuda_cflags -fatbin -Xptxas -v $in -o $out $cuda_post_cflags 2> $out" + SAID
_LINK = "  command = $cxx $in $ldflags -o $out\n"
_NOTHING = "  command = : > $out\n"
_LINKS_KERNELS = re.compile(r"rule cuda_devlink|-dc\b|-rdc|--?relocatable-device-code|--device-c\b")
"""Kernels of several sources are one program then, and need the object files."""


def install(model: GpuModel) -> None:
    """Have torch's extensions compile so in this process until it ends. Needs torch. Nothing is
    done for a GPU of another vendor than NVIDIA: of HIP no more is ever built."""
    extension: Any = importlib.import_module("torch.utils.cpp_extension")
    if model.vendor is not Vendor.NVIDIA:
        return
    extension.load_inline = with_places(extension.load_inline)
    is_module: ContextVar[bool] = ContextVar("is_module", default=False)
    extension._jit_compile = _telling(extension._jit_compile, is_module)
    extension._write_ninja_file = _shortened(
        extension._write_ninja_file, is_module, has_cuda=extension.torch.version.cuda is not None
    )
    extension._import_module_from_library = _imported(
        extension._import_module_from_library, model.arch
    )


def _telling(build: Callable[..., Any], is_module: ContextVar[bool]) -> Callable[..., Any]:
    signature = inspect.signature(build)

    @functools.wraps(build)
    def build_telling(*arguments: Any, **options: Any) -> Any:
        given = signature.bind(*arguments, **options).arguments
        before = is_module.set(bool(given["is_python_module"]))
        try:
            return build(*arguments, **options)
        finally:
            is_module.reset(before)

    return build_telling


def _shortened(
    write: Callable[..., None], is_module: ContextVar[bool], *, has_cuda: bool
) -> Callable[..., None]:
    signature = inspect.signature(write)

    @functools.wraps(write)
    def write_shortened(*arguments: Any, **options: Any) -> None:
        write(*arguments, **options)
        path = Path(signature.bind(*arguments, **options).arguments["path"])
        commands = path.read_text()
        if is_module.get() and is_known(commands):
            headers = Path.home() / _HEADERS
            write_headers(headers)
            path.write_text(for_a_report(commands, headers, has_cuda=has_cuda))

    return write_shortened


def is_known(commands: str) -> bool:
    """Whether ninja's `commands` are CUDA's and have the form that `for_a_report` changes."""
    return (
        _COMPILE in commands
        and _LINK in commands
        and _NVCC.search(commands) is not None
        and _LINKS_KERNELS.search(commands) is None
    )


def for_a_report(commands: str, headers: Path, *, has_cuda: bool) -> str:
    """Ninja's `commands` without what the host alone needs. Kernels are compiled with few of
    torch's `headers`, and with all if those don't do. `has_cuda`: whether torch was built with it.
    """
    cudas = f"-isystem {headers / CUDAS} "
    missing = "" if has_cuda else cudas

    def kernels(found: re.Match[str]) -> str:
        rest = _KERNELS.format(found[1])
        few, whole = f"-isystem {headers / FEW} {cudas}", missing
        attempts = f"$nvcc {few}{rest} || $nvcc {whole}{rest}"
        return f"  command = {attempts} || {{ cat $out{SAID}; false; }}\n"

    commands = _NVCC.sub(kernels, commands)
    check = f"  command = {_CHECK.format(missing)}\n"
    return commands.replace(_COMPILE, check).replace(_LINK, _NOTHING)


def _imported(load: Callable[..., Any], arch: str) -> Callable[..., Any]:
    @functools.wraps(load)
    def load_or_stand_in(name: str, path: str, is_python_module: bool) -> Any:
        library = Path(path, f"{name}.so")
        if library.is_file() and library.stat().st_size == 0:
            return NotLoaded(name, arch)
        return load(name, path, is_python_module)

    return load_or_stand_in
