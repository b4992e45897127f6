"""What a zygote imports before it forks, so that no submission waits for an import."""

import contextlib
import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from kernelbot.harness.inside import precompiled
from kernelbot.harness.inside.gpu.gpu_model import GpuModel
from kernelbot.harness.inside.gpu.opened import open_devices
from kernelbot.harness.inside.marks.marks import marks, start_building
from kernelbot.harness.inside.own_builds import began_ns
from kernelbot.harness.inside.warm_up import warm_up

_NUMPY = ("numpy", "numpy.random", "numpy.linalg", "numpy.typing")
"""The last for its annotations, which many problems have."""
_TORCH = (*_NUMPY, "torch", "torch.nn.functional")
_BUILDING = ("torch.utils.cpp_extension",)
_TRITON = ("triton", "triton.language")
_TRITON_LATER = ("triton.experimental.gluon",)
_CHECKS = "kernelbot_check"
"""What many references import: else each cage would, and compile it where nothing is kept."""
_WARM_UPS = 16
"""Python 3.11 adapts a function once it was called eight times."""
_TRITON_KEYS = ("triton.runtime.cache", "triton.compiler.compiler")
"""Where the function is, by version."""
_ALWAYS = (
    "dataclasses",
    "functools",
    "math",
    "random",
    "typing",
    "kernelbot.harness.inside.runner.runner",
)


def preload(
    flavour: str,
    cuda_on_cpu: bool,
    model: GpuModel | None = None,
    *,
    checked: bool = False,
    reports: bool = False,
) -> None:
    """Import the frameworks of a flavour: `bare`, `numpy` or `torch`. Runs nobody's code. `model`:
    of the GPU that `cuda_on_cpu` stands for, if kernels are compiled for one. `checked`: whether
    the accesses of memory are looked at in CUDA kernels that strangers compile for the processor.
    `reports`: whether nobody takes what extensions of torch are compiled for `model`.

    Nothing here may start a thread or a GPU's driver: the process is going to fork. Raises
    RuntimeError where the driver was started all the same.
    """
    began_ns()
    start_building()  # while the imports go on
    for name in _ALWAYS:
        importlib.import_module(name)
    with contextlib.suppress(ImportError):  # the one file that is the harness hasn't got it
        importlib.import_module(_CHECKS)
    if flavour == "numpy":
        for name in _NUMPY:
            importlib.import_module(name)
    if flavour == "torch":
        _preload_torch(cuda_on_cpu, model, checked=checked, reports=reports)
        if model is not None or not cuda_on_cpu:
            _preload_first_launch()
    prepare_forks(warm_up)
    if not cuda_on_cpu and (opened := open_devices()):
        raise RuntimeError(
            f"importing the frameworks has opened {opened[0]}; forks couldn't use it"
        )


def prepare_forks(run: Callable[[], None]) -> None:
    """Do in a process that is going to fork what its forks would do alike. `run`: what they all
    run; it is run often enough that the interpreter has adapted its code: in a fork each
    adaptation, and each thing done at first use, copies a page."""
    _forget_looked_up()
    torch: Any = sys.modules.get("torch")
    threads = 1 if torch is None else torch.get_num_threads()
    if torch is not None:
        torch.set_num_threads(1)  # else it may start some
    for _ in range(_WARM_UPS):
        run()
    if torch is not None:
        torch.set_num_threads(threads)
    marks()
    _leave_logs_locks_alone()


def _forget_looked_up() -> None:
    """Empty the interpreter's cache of attributes. A fork that looks up another in one's place lets
    go of that one's name, by writing to it: in a page of its own, as names from a framework's
    import lie everywhere."""
    forget = getattr(sys, "_clear_type_cache", None)
    if forget is not None:
        forget()


def _leave_logs_locks_alone() -> None:
    """A fork makes the lock of each log's handler anew, lest a thread that it hasn't got holds it.
    torch has some forty handlers, and a process of one thread, as a zygote is, holds no lock. Its
    forks run strangers' code, with threads, so before they fork the handlers are put back."""
    remade = getattr(logging, "_at_fork_reinit_lock_weakset", None)
    handlers = getattr(logging, "_handlerList", None)
    if remade is None or handlers is None:
        return
    remade.clear()
    zygote = os.getpid()

    def put_back() -> None:
        if os.getpid() != zygote and not remade:
            remade.update(one for found in handlers if (one := found()) is not None)

    os.register_at_fork(before=put_back)


@contextlib.contextmanager
def driver_left_alone(torch: Any) -> Iterator[None]:
    """torch's builds for GPUs ask for one while `cpp_extension` is imported, merely to warn."""
    ask = torch.cuda.is_available
    torch.cuda.is_available = lambda: True
    try:
        yield
    finally:
        torch.cuda.is_available = ask


def _preload_torch(
    cuda_on_cpu: bool, model: GpuModel | None, *, checked: bool, reports: bool
) -> None:
    torch: Any = importlib.import_module("torch")
    with driver_left_alone(torch):
        for name in (*_TORCH, *_BUILDING):
            importlib.import_module(name)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    precompiled.install()  # before what else stands in for these functions
    if cuda_on_cpu:
        importlib.import_module("kernelbot.harness.inside.gpu.emulation").install(model)
    if cuda_on_cpu and model is None:
        inline = importlib.import_module("kernelbot.harness.inside.cuda_on_cpu.inline")
        inline.install(checked=checked)
    torch.zeros(2).add(1).sum().item()
    if model is None:
        # The first call imports hundreds of modules; many references make it. Where kernels are
        # only compiled no reference is called, and the first file would wait for these imports.
        torch.use_deterministic_algorithms(True)
        torch.use_deterministic_algorithms(False)
    _preload_compilers()
    if model is not None:
        for name in ("compile_only", "compile_cute", "compile_hip"):
            importlib.import_module(f"kernelbot.harness.inside.gpu.{name}").install(model)
    if model is not None and reports:
        importlib.import_module("kernelbot.harness.inside.gpu.compile_extensions").install(model)
    torch.set_num_threads(threads)


def _preload_compilers() -> None:
    for name in _TRITON:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _preload_first_launch() -> None:
    """What Triton does once in each process, before the first kernel: it imports more of itself,
    and reads its own files, half a gigabyte, by whose hash it names what it has compiled."""
    for name in _TRITON_LATER:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in _TRITON_KEYS:
        with contextlib.suppress(ImportError, AttributeError):
            importlib.import_module(name).triton_key()
