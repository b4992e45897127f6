"""A `torch` whose GPU is a log file: `gpu.log` in the working folder tells what was done in order.

Copied into a problem as its `torch.py`. The tools in `ncu.py` and `rocprofv3.py` read the diary as
the real ones watch the driver.
"""

import types
from pathlib import Path
from typing import Any


def _write(line: str) -> None:
    with Path("gpu.log").open("a") as diary:
        diary.write(line + "\n")


def launch(kernel: str) -> None:
    """Run a kernel."""
    _write(f"launch {kernel}")


nvtx = types.SimpleNamespace(
    range_push=lambda name: _write(f"push {name}"), range_pop=lambda: _write("pop")
)
cuda: Any = types.SimpleNamespace(
    nvtx=nvtx, is_available=lambda: True, synchronize=lambda: _write("synchronize")
)
