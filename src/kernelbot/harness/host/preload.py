"""What a zygote imports before it forks, so that no submission waits for an import."""

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from kernelbot.harness.build.own_builds import began_ns
from kernelbot.harness.gpu.access import open_devices
from kernelbot.harness.timing.marks import marks, start_building

_NUMPY = ("numpy", "numpy.random", "numpy.linalg")
_TORCH = (*_NUMPY, "torch", "torch.nn.functional", "torch.utils.cpp_extension")
_TRITON = ("triton", "triton.language")
_ALWAYS = (
    "dataclasses",
    "functools",
    "math",
    "random",
    "typing",
    "kernelbot.harness.runner.runner",
)


def preload(flavour: str, cuda_on_cpu: bool) -> None:
    """Import the frameworks of a flavour: `bare`, `numpy` or `torch`. Runs nobody's code.

    Nothing here may start a thread or a GPU's driver: the process is going to fork. Raises
    RuntimeError where the driver was started all the same.
    """
    began_ns()
    start_building()  # while the imports go on
    for name in _ALWAYS:
        importlib.import_module(name)
    if flavour == "numpy":
        for name in _NUMPY:
            importlib.import_module(name)
    if flavour == "torch":
        _preload_torch(cuda_on_cpu)
    marks()
    if not cuda_on_cpu and (opened := open_devices()):
        raise RuntimeError(
            f"importing the frameworks has opened {opened[0]}; forks couldn't use it"
        )


@contextlib.contextmanager
def driver_left_alone(torch: Any) -> Iterator[None]:
    """torch's builds for GPUs ask for one while `cpp_extension` is imported, merely to warn."""
    ask = torch.cuda.is_available
    torch.cuda.is_available = lambda: True
    try:
        yield
    finally:
        torch.cuda.is_available = ask


def _preload_torch(cuda_on_cpu: bool) -> None:
    torch: Any = importlib.import_module("torch")
    with driver_left_alone(torch):
        for name in _TORCH:
            importlib.import_module(name)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    if cuda_on_cpu:
        install = importlib.import_module("kernelbot.harness.gpu.emulation").install
        install()
    # The first call imports hundreds of modules; many references make it.
    torch.use_deterministic_algorithms(True)
    torch.use_deterministic_algorithms(False)
    torch.zeros(2).add(1).sum().item()
    for name in _TRITON:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    torch.set_num_threads(threads)
