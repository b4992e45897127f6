"""A problem for kernels in Triton. Triton and its compilers are real; the GPU is the stand-in, on
which Triton's launches do nothing."""

from dataclasses import replace

from kernelbot.protocol import Case, JobSpec, Mode, ProblemSpec, Timeouts
from tests.harness.jobs import a_job, a_problem
from tests.support.device_problems import DEVICE

_LIMIT_S = 60.0
_COMPILE_S = 600.0
"""Of which calls in advance have half, on a busy machine as well."""
REFERENCE = """
import torch
def generate_input(size, seed):
    return torch.rand(size, generator=torch.Generator().manual_seed(seed))
def ref_kernel(data):
    return data * 2
def check_implementation(data, output):
    return torch.equal(output, data * 2), "not doubled"
"""
# Where nobody has installed a driver of Triton's yet, the author's file has the stand-in's GPU.
TRITON = """
import torch, triton, triton.language as tl
from pathlib import Path
from triton import knobs
from kernelbot.harness.inside.gpu import compile_only, gpu_model
is_ahead = triton.runtime.driver._active is not None
if not is_ahead:
    compile_only.install(gpu_model.named_model("nvidia:90"))
    triton.runtime.driver.active.utils._has_own = True  # the stand-in's driver can't load it
knobs.compilation.listener = lambda cache_hit, **_: is_ahead or print("found", cache_hit)

@triton.jit
def double(x, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < size), mask=at < size)

def custom_kernel(data):
    out = torch.empty_like(data)
    double[(1,)](data, out, data.numel(), BLOCK=64)
    return data * 2
"""


def triton_problem(*, compile_s: float = _COMPILE_S) -> ProblemSpec:
    """Doubles a tensor in the host's memory, of two sizes that Triton compiles for separately."""
    timeouts = Timeouts(_LIMIT_S, _LIMIT_S, _LIMIT_S, compile_s)
    cases = (Case({"size": 1, "seed": 7}), Case({"size": 64, "seed": 7}))
    problem = a_problem(reference=REFERENCE, timeouts=timeouts)
    return replace(problem, tests=cases, benchmarks=cases[1:])


def triton_job(source: str, *, compile_s: float = _COMPILE_S) -> JobSpec:
    """A run of the tests."""
    problem = triton_problem(compile_s=compile_s)
    return replace(a_job(source, mode=Mode.TEST, problem=problem), device=DEVICE)
