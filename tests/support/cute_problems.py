"""A problem for kernels in CuTe DSL, whose package the tests that need it may lack."""

from dataclasses import replace
from importlib.util import find_spec

import pytest

from kernelbot.protocol import JobSpec
from kernelbot.protocol.building import build_job
from tests.support.triton_problems import triton_job

needs_cute = pytest.mark.skipif(
    find_spec("nvidia_cutlass_dsl") is None,
    reason="CuTe DSL isn't installed (the extra `cute`, 260 MB)",
)
CUTE = """
import torch
import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack

@cute.kernel
def double(x: cute.Tensor, out: cute.Tensor, size: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    shared = cutlass.memory.SmemAllocator()
    kept = shared.allocate_tensor(cutlass.Float32, cute.make_layout(128), 16)
    if thread < size:
        kept[thread] = x[thread] + x[thread]
        out[thread] = kept[thread]

@cute.jit
def launch(x: cute.Tensor, out: cute.Tensor, size: cutlass.Int32):
    double(x, out, size).launch(grid=(1, 1, 1), block=(64, 2, 1))

def custom_kernel(data):
    out = torch.empty_like(data)
    given = [from_dlpack(one).mark_layout_dynamic(leading_dim=0) for one in (data, out)]
    cute.compile(launch, *given, data.numel())(*given, data.numel())
    return out
"""
ADDED = "x[thread] + x[thread]"


def cute_step(source: str, arch: str = "90a", *, compile_s: float = 600.0) -> JobSpec:
    """The build step of a file, for a GPU that isn't there."""
    job = triton_job(source, compile_s=compile_s)
    return build_job(replace(job, device=replace(job.device, arch=arch)), "b1", "builder")
