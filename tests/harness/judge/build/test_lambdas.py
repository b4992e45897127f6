"""nvcc is given extended lambdas only where sources may have some."""

import dataclasses
import shutil

import pytest

from kernelbot.harness.judge.build.compile import CompilerProduct, compile_job
from kernelbot.harness.judge.build.lambdas import EXTENDED_LAMBDA, may_have_extended_lambdas
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.protocol import DeviceSpec, Lang, Vendor, Verdict
from tests.harness.judge.build.test_compile import _job

NVCC = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
_KERNEL = "__global__ void twice(int* a) { a[threadIdx.x] *= 2; }\n"
_CALL = "template <class F> __global__ void call(F f, int *a) { *a = f(*a); }\n"
_LAMBDA = "[=] __device__ (int x) { return 2 * x; }"


@pytest.mark.parametrize(
    "source",
    [
        _LAMBDA,
        "[] __host__ __device__ {}",
        "[=](int x) {}",
        "[&]\n  {}",
        "[] HD (int x) {}",
        "[] <typename T> __device__ (T x) {}",
        "[=] /* here */ __device__ () {}",
        "[=] \\\n __device__ () {}",
        "#include <cub/cub.cuh>",
        '#  include "cutlass/gemm.h"',
        "#ifdef __CUDACC_EXTENDED_LAMBDA__",
    ],
)
def test_what_may_be_a_lambda_is_one(source: str) -> None:
    assert may_have_extended_lambdas([b"", source.encode()])


@pytest.mark.parametrize(
    "source",
    [
        _KERNEL,
        "if (s[t] < s[t + d] && s[t] > 0) s[t] = s[t + d];",
        "extern __shared__ float tile[];\n__shared__ float rows[2][32];",
        "// out[i] = a[i] for all\nx /* b[i] is (a[i]) */ = y[0];\n/* never closed [=] () {}",
        "#include <cuda_fp16.h>\n#include <cooperative_groups/reduce.h>",
    ],
)
def test_elements_of_arrays_are_none(source: str) -> None:
    assert not may_have_extended_lambdas([source.encode()])


@NVCC
@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        (_KERNEL, False),
        (f"{_CALL}void run(int *a) {{ call<<<1, 1>>>({_LAMBDA}, a); }}", True),
        ("#define CAPTURES [=]\n" + _CALL + "#define BODY __device__ (int x) { return x; }\n"
         "void run(int *a) { call<<<1, 1>>>(CAPTURES BODY, a); }", True),
        ("std::function<int(int)> none;", True),
    ],
)  # fmt: skip
def test_what_compiles_with_them_compiles(client: RunnerClient, source: str, allowed: bool) -> None:
    device = DeviceSpec("H100", Vendor.NVIDIA, arch="90a")
    job = dataclasses.replace(_job(source, Lang.CU), device=device)
    problem = dataclasses.replace(job.problem, timeouts=dataclasses.replace(
        job.problem.timeouts, compile_s=100))  # fmt: skip
    build = compile_job(
        dataclasses.replace(job, problem=problem), client, CompilerProduct.SHARED_OBJECT
    )
    assert build.report is not None
    assert Verdict.ACCEPTED == build.verdict, build.report.output
    assert allowed == (EXTENDED_LAMBDA in build.report.command.split())
