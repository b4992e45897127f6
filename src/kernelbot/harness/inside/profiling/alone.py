"""One submission in an interpreter of its own, so that a vendor's profiler can watch it.

Runs in the sandbox, in a folder with the problem's shared files, the submission, and one
workload's data. Calls the kernel once to warm up and once in the NVTX range that tools look for.
"""

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernelbot.harness.data.decode import decode
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.own_builds import unpack
from kernelbot.harness.inside.runner.kernels import CompiledKernel, PythonKernel, TimedKernel
from kernelbot.harness.inside.runner.loading import kernel_finder

RANGE = "custom_kernel"
"""The NVTX range around the call that is profiled; public problem sets' scripts use it, too."""
ORDER = ".profile/order.json"
DATA = ".profile/data.bin"
BUILDS = ".profile/builds.tar"
LIBRARY = "kernel.so"


def main() -> None:
    """Follow the order in the working folder."""
    folder = Path.cwd()
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    order = json.loads(Path(ORDER).read_text())
    if Path(BUILDS).exists():
        unpack(folder, Path(BUILDS).read_bytes())
    for name in (*order["frameworks"], *order["modules"]):
        importlib.import_module(name)
    given = SharedBuffer.attach(os.open(DATA, os.O_RDWR))
    data, _ = decode(order["data"], given, frozenset(order["modules"]), of_input=True)
    kernel = _load(order)
    arguments = kernel.arguments(data)
    kernel.function(*arguments)
    torch = _torch_with_gpu()
    if torch is not None:
        torch.cuda.synchronize()
    with _range(torch):
        kernel.function(*arguments)


def _load(order: dict[str, Any]) -> TimedKernel:
    if order["outputs"] is not None:
        return CompiledKernel.load(Path.cwd() / LIBRARY, order["outputs"])
    kernel_of = kernel_finder()
    return PythonKernel(kernel_of(importlib.import_module(Path(order["submission"]).stem)))


def _torch_with_gpu() -> Any:
    torch: Any = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_available() else None


@contextlib.contextmanager
def _range(torch: Any) -> Iterator[None]:
    """The range ends when the GPU has finished what was launched in it."""
    if torch is None:
        yield
        return
    torch.cuda.nvtx.range_push(RANGE)
    yield
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()


if __name__ == "__main__":
    main()
