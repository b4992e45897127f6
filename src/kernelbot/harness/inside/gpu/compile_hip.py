"""Extensions of torch whose sources are HIP, or CUDA that torch translates, compile for a GPU of
AMD's that isn't there, in a torch that was built without ROCm.

All is torch's own but for the compiler, `hip_compiler`, and for the end: what was built isn't
loaded, and its functions can't be called.
"""

import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelbot.harness.inside.gpu.gpu_model import GpuModel
from kernelbot.harness.inside.gpu.hip_compiler import FOLDER, TROUBLE, script
from kernelbot.harness.inside.gpu.hip_toolchain import NoHipToolchain, find_toolchain, header_files
from kernelbot.harness.inside.gpu.not_loaded import NotLoaded
from kernelbot.harness.inside.inline_sources import systems_compiler, with_places
from kernelbot.protocol import Vendor

_ROCMS = ("-lc10_hip", "-ltorch_hip", "-lamdhip64")
_HOSTS = ["-fPIC", "-D__HIP_PLATFORM_AMD__=1"]
"""What g++ is told: no more, since it would take no header that was compiled in advance."""
_DEVICES = ["-DUSE_ROCM=1", "-DHIPBLAS_V2"]


def install(model: GpuModel) -> None:
    """Have torch's extensions compile for `model` in this process until it ends. Needs torch.
    Nothing is done for a GPU of another vendor, and in a torch that has ROCm."""
    extension: Any = importlib.import_module("torch.utils.cpp_extension")
    if model.vendor is not Vendor.AMD or extension.IS_HIP_EXTENSION:
        return
    extension.IS_HIP_EXTENSION = True
    extension.COMMON_HIP_FLAGS = _HOSTS
    extension.COMMON_HIPCC_FLAGS = [*extension.COMMON_HIPCC_FLAGS, *_DEVICES]
    extension._get_rocm_arch_flags = lambda _flags=None: []
    extension._prepare_ldflags = _without_rocms(extension._prepare_ldflags)
    extension._import_module_from_library = _not_loaded(model)
    extension._jit_compile = _with_compiler(extension, model)
    extension.load_inline = with_places(extension.load_inline)


def _without_rocms(prepare: Callable[..., list[str]]) -> Callable[..., list[str]]:
    @functools.wraps(prepare)
    def prepare_without(*arguments: Any, **options: Any) -> list[str]:
        return [flag for flag in prepare(*arguments, **options) if flag not in _ROCMS]

    return prepare_without


def _with_compiler(extension: Any, model: GpuModel) -> Callable[..., Any]:
    build = extension._jit_compile

    @functools.wraps(build)
    def build_for_model(*arguments: Any, **options: Any) -> Any:
        try:
            find_toolchain(model.arch)
        except NoHipToolchain as error:
            raise RuntimeError(str(error)) from None
        home = Path.home()
        extension.ROCM_HOME = str(home / FOLDER)
        _write_rocm(home, model)
        try:
            with systems_compiler():
                return build(*arguments, **options)
        except RuntimeError:
            trouble = home / TROUBLE
            if trouble.is_file():
                raise RuntimeError(trouble.read_text()) from None
            raise

    return build_for_model


def _write_rocm(home: Path, model: GpuModel) -> None:
    folder = home / FOLDER
    for path, content in header_files().items():
        target = folder / "include" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    compiler = folder / "bin/hipcc"
    compiler.parent.mkdir(parents=True, exist_ok=True)
    compiler.write_text(script(model.arch, str(home), str(Path(__file__).parents[4])))
    compiler.chmod(0o755)
    (home / TROUBLE).unlink(missing_ok=True)


def _not_loaded(model: GpuModel) -> Callable[..., Any]:
    def import_nothing(name: str, path: str, is_python_module: bool) -> Any:
        Path(path, f"{name}.so").unlink(missing_ok=True)  # it has no code of the host's
        return NotLoaded(name, model.arch) if is_python_module else None

    return import_nothing
