"""Triton compiles for a GPU that isn't there: kernels are compiled when they are launched, as
always, and then nothing runs.

What is compiled lies in Triton's own cache, under the names that it has on a GPU of that model. An
autotuner compiles all of its configurations; what it would then choose is kept nowhere.
"""

import contextlib
import importlib
import io
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kernelbot.harness.inside.built_kernels import TRITON_WORDS
from kernelbot.harness.inside.gpu import configurations
from kernelbot.harness.inside.gpu.gpu_model import GpuModel
from kernelbot.harness.inside.own_builds import TRITON_CACHE
from kernelbot.protocol import Vendor

_MODULES = {
    Vendor.NVIDIA: ("cuda", "triton.backends.nvidia.driver", "CudaUtils"),
    Vendor.AMD: ("hip", "triton.backends.amd.driver", "HIPUtils"),
}
"""For each vendor: Triton's word for it, and what Triton compiles of its own for its driver."""
_TORCH_ON_CUDA = frozenset(("-lc10_cuda", "-ltorch_cuda"))
_RUNTIME = "-lcudart"
_STATIC_RUNTIME = ("-lcudart_static", "-ldl", "-lrt", "-lpthread")
"""The package index's toolkit has no other to link with."""
_UNLIMITED_BYTES = 1 << 30
_THREADS = 1024
_TOOK_MS = 1.0


def install(model: GpuModel) -> None:
    """Have Triton, and torch's extensions, compile for `model` in this process until it ends. Needs
    torch; without Triton nothing is done for that."""
    if model.vendor is Vendor.NVIDIA:
        _let_extensions_be_built()
    try:
        from triton.runtime import autotuner, driver
    except ImportError:
        return
    driver.set_active(_Driver(model))
    _tell_helion()
    autotuner.Autotuner.check_disk_cache = _without_files
    configurations.install()
    if model.vendor is Vendor.NVIDIA:
        _keep_words_of_ptxas()


def _tell_helion() -> None:
    """Helion would have Triton compile into a folder that nobody reads, unless one is named (a
    runner names its own); and it would tune kernels that have no configuration, by running them."""
    os.environ.setdefault("TRITON_CACHE_DIR", str(Path.home() / TRITON_CACHE))
    os.environ.setdefault("HELION_AUTOTUNE_EFFORT", "none")


def _without_files(
    _tuner: Any, _key: object, _configs: object, compare: Callable[[], None]
) -> bool:
    compare()
    return False


def _let_extensions_be_built() -> None:
    """A torch without CUDA knows no toolkit, and has no libraries of its own to link with."""
    cpp_extension: Any = importlib.import_module("torch.utils.cpp_extension")
    toolkit = os.environ.get("CUDA_HOME")
    if cpp_extension.CUDA_HOME is not None or toolkit is None:
        return
    cpp_extension.CUDA_HOME = toolkit
    prepare = cpp_extension._prepare_ldflags

    has_library = any(Path(toolkit).glob("lib*/libcudart.so"))

    def without_missing(*arguments: Any) -> list[str]:
        kept = [flag for flag in prepare(*arguments) if flag not in _TORCH_ON_CUDA]
        if has_library:
            return kept
        return [flag for flag in kept if flag != _RUNTIME] + [*_STATIC_RUNTIME]

    cpp_extension._prepare_ldflags = without_missing


def _keep_words_of_ptxas() -> None:
    """What ptxas says of a kernel lies beside what was compiled: Triton would only print it."""
    try:
        from triton import knobs
        from triton.backends.nvidia.compiler import CUDABackend
    except ImportError:  # a Triton whose ptxas says nothing
        return
    add_stages = CUDABackend.add_stages

    def with_words(backend: Any, stages: dict[str, Any], *options: object) -> None:
        add_stages(backend, stages, *options)
        compile_one = stages.get("cubin")
        if compile_one is not None:
            stages["cubin"] = lambda src, metadata: _keep_words(knobs, compile_one, src, metadata)

    CUDABackend.add_stages = with_words


def _keep_words(knobs: Any, compile_one: Callable[..., Any], src: Any, metadata: Any) -> Any:
    from triton.runtime.cache import get_cache_manager

    printed = io.StringIO()
    with knobs.nvidia.scope():
        knobs.nvidia.dump_ptxas_log = True
        with contextlib.redirect_stdout(printed):
            binary = compile_one(src, metadata)
    with contextlib.suppress(OSError):
        get_cache_manager(metadata["hash"]).put(printed.getvalue(), TRITON_WORDS, binary=False)
    return binary


class _Driver:
    """In place of Triton's driver of a vendor."""

    def __init__(self, model: GpuModel) -> None:
        self._model = model
        self.utils = _Utils(model)
        self.launcher_cls = _Launcher

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        model = self._model
        arch = model.number if model.vendor is Vendor.NVIDIA else model.arch
        return GPUTarget(_MODULES[model.vendor][0], arch, model.warp_threads)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, _device: int) -> None:
        return

    def get_current_stream(self, _device: int = 0) -> int:
        return 0

    def get_device_capability(self, _device: int = 0) -> tuple[int, int]:
        return self._model.capability

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_benchmarker(self) -> Callable[..., Any]:
        return _benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(1)

    def clear_cache(self, _cache: object) -> None:
        return

    def map_python_to_cpp_type(self, _type: str) -> str:
        return "void*"


def _benchmark(
    call: Callable[[], object], quantiles: Sequence[float] | None = None, **_options: object
) -> Any:
    call()
    return [_TOOK_MS] * len(quantiles) if quantiles else _TOOK_MS


class _Launcher:
    """Launches nothing."""

    def __init__(self, *_compiled: object) -> None:
        return

    def __call__(self, *_launch: object) -> None:
        return


class _Utils:
    """What Triton asks a driver for."""

    def __init__(self, model: GpuModel) -> None:
        self._model = model
        self._has_own = False

    def load_binary(self, *_binary: object) -> tuple[object, int, int, int, int]:
        if not self._has_own:
            self._has_own = True
            self._compile_own()
        return object(), 0, 0, 0, _THREADS

    def get_device_properties(self, _device: int) -> dict[str, object]:
        model = self._model
        return {
            "max_shared_mem": _UNLIMITED_BYTES,
            "max_num_regs": 1 << 16,
            "multiprocessor_count": model.processors,
            "warpSize": model.warp_threads,
            "arch": model.arch,
            "sm_clock_rate": 1,
            "mem_clock_rate": 1,
            "mem_bus_width": 1,
        }

    def _compile_own(self) -> None:
        """Triton compiles a module of its own in C, once in each home, before it loads its first
        kernel. Where it can't be loaded without a GPU, it is compiled all the same."""
        _, module, name = _MODULES[self._model.vendor]
        trouble = (ImportError, AttributeError, AssertionError, RuntimeError, OSError)
        with contextlib.suppress(*trouble, subprocess.SubprocessError):
            getattr(importlib.import_module(module), name)()
