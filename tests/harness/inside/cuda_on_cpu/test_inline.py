"""`load_inline` with CUDA sources, in a process without a GPU."""

import os
from pathlib import Path

import pytest

from tests.harness.inside.gpu.test_emulation import answers

pytest.importorskip("torch", reason="torch isn't installed")
pytestmark = pytest.mark.torch

_INSTALL = """\
import torch
from kernelbot.harness.inside.gpu import emulation
from kernelbot.harness.inside.cuda_on_cpu import inline
emulation.install()
inline.install()
from torch.utils.cpp_extension import load_inline
"""
_SOURCE = """
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
template <class T> __global__ void twice(const T *a, T *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + a[i];
    if (n == 3) __trap();
}
torch::Tensor run(torch::Tensor a) {
    TORCH_CHECK(a.is_cuda(), "a tensor on a GPU");
    const c10::cuda::CUDAGuard guard(a.device());
    auto out = torch::empty_like(a);
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.scalar_type(), "twice", ([&] {
        twice<scalar_t><<<(a.numel() + 63) / 64, 64, 0, at::cuda::getCurrentCUDAStream()>>>(
            a.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), a.numel());
    }));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

_FEWER = """
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>
namespace torch { using namespace at; }
"""


def fewer_headers(tmp_path: Path) -> str:
    """A folder in which `torch/extension.h` is a third of torch's, which takes g++ half a minute of
    a processor. One test has all of it."""
    header = tmp_path / "fewer" / "torch" / "extension.h"
    header.parent.mkdir(parents=True)
    header.write_text(_FEWER)
    return str(tmp_path / "fewer")


@pytest.mark.timeout(500)  # half a minute of a processor, which others may share
@pytest.mark.exhaustive
def test_an_extension_runs_and_a_launch_that_fails_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / ".cache" / "torch_extensions"))
    code = f"""
import os
os.environ.update({dict(os.environ)!r})
os.environ["CXX"] = "/opt/rocm/bin/clang++"
declared = "torch::Tensor run(torch::Tensor a);"
module = load_inline("twice", declared, '''{_SOURCE}''', functions=["run"])
a = torch.randn(1000, device="cuda").half()
print(bool((module.run(a) == 2 * a).all()))
try:
    module.run(a[:3])
except RuntimeError as error:
    print(str(error).splitlines()[0])
"""
    right, raised = answers(tmp_path, code, install=_INSTALL, patience_s=450)
    assert "True" == right
    assert raised.startswith("script.py:")
    assert raised.endswith(": the kernel called __trap.")


_OFF = """
__global__ void copy(const at::Half *a, at::Half *out, int n) {
    int i = threadIdx.x;
    if (i <= n) out[i] = a[i] + a[i];
}
torch::Tensor run(torch::Tensor a, bool reads) {
    auto out = torch::empty({a.numel() - !reads}, a.options());
    copy<<<1, 64>>>(a.data_ptr<at::Half>(), out.data_ptr<at::Half>(), out.numel());
    return out;
}
"""


@pytest.mark.timeout(500)
@pytest.mark.exhaustive
def test_accesses_outside_of_tensors_are_found_if_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / ".cache" / "torch_extensions"))
    code = f"""
import os
os.environ.update({dict(os.environ)!r})
declared = "torch::Tensor run(torch::Tensor a, bool reads);"
whole = torch.randn(30).half()
module = load_inline(
    "copy", declared, '''{_OFF}''', functions=["run"],
    extra_include_paths=[{fewer_headers(tmp_path)!r}],
)
for reads in (True, False):
    try:
        module.run(whole[:20], reads)
    except RuntimeError as error:
        print(str(error).splitlines()[0])
"""
    install = _INSTALL.replace("inline.install()", "inline.install(checked=True)")
    read, written = answers(tmp_path, code, install=install, patience_s=450)
    assert "thread (20,0,0) of block (0,0,0) reads 2 bytes outside of all arrays" in read
    assert "right behind the end of `argument 1`" in read
    assert "thread (19,0,0) of block (0,0,0) writes 2 bytes outside of all arrays" in written
    assert "right behind the end of `a tensor`" in written
    assert read.startswith("script.py:")  # which torch's header for halves was inlined into


_HIP = """
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPException.h>
#include <c10/hip/HIPGuard.h>
#include <c10/hip/HIPStream.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
__global__ void wave_sums(const float *a, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = i < n ? a[i] : 0.0f;
    for (int d = warpSize / 2; d > 0; d >>= 1) own += __shfl_down(own, d);
    if (__lane_id() == 0) out[i / warpSize] = own;
}
torch::Tensor run(torch::Tensor a) {
    TORCH_CHECK(a.is_cuda(), "a tensor on a GPU");
    const c10::hip::HIPGuard guard(a.device());
    auto out = torch::empty({(a.numel() + 63) / 64}, a.options());
    hipStream_t stream = c10::hip::getCurrentHIPStream();
    hipLaunchKernelGGL(wave_sums, dim3((a.numel() + 255) / 256), dim3(256), 0, stream,
                       a.data_ptr<float>(), out.data_ptr<float>(), a.numel());
    C10_HIP_KERNEL_LAUNCH_CHECK();
    wave_sums<<<1, 64, 0, at::hip::getCurrentHIPStream()>>>(a.data_ptr<float>(),
                                                            out.data_ptr<float>(), 64);
    C10_HIP_CHECK(hipGetLastError());
    return out;
}
"""


@pytest.mark.timeout(500)
@pytest.mark.exhaustive
def test_an_extension_of_hips_has_warps_of_64_lanes_and_torchs_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / ".cache" / "torch_extensions"))
    code = f"""
import os
os.environ.update({dict(os.environ)!r})
declared = "torch::Tensor run(torch::Tensor a);"
module = load_inline(
    "sums", declared, '''{_HIP}''', functions=["run"],
    extra_cuda_cflags=["--offload-arch=gfx942"], extra_ldflags=["-lamdhip64"],
    extra_include_paths=[{fewer_headers(tmp_path)!r}],
)
a = torch.randint(-9, 9, (512,), device="cuda").float()
print(bool((module.run(a) == a.reshape(-1, 64).sum(1)).all()))
"""
    assert ["True"] == answers(tmp_path, code, install=_INSTALL, patience_s=450)


@pytest.mark.exhaustive
def test_matrix_cores_of_amds_are_refused_by_the_authors_line(tmp_path: Path) -> None:
    code = """
source = '''
#include <hip/hip_runtime.h>
__global__ void f(float *a) {
    a[0] = __builtin_amdgcn_mfma_f32_4x4x1f32(a[1], a[2], a[3], 0, 0, 0);
}'''
try:
    load_inline("f", "", source)
except Exception as error:
    print(type(error).__name__, error)
"""
    (said,) = answers(tmp_path, code, install=_INSTALL)
    expected = "NotCovered script.py:11: `__builtin_amdgcn_mfma_f32_4x4x1f32` (AMD's matrix cores)"
    assert said.startswith(expected)


@pytest.mark.exhaustive  # each run has test_without_cuda_sources_nothing_changes
def test_what_needs_a_gpu_is_refused_by_the_authors_line(tmp_path: Path) -> None:
    code = """
source = '''
__global__ void f() {
    asm("wgmma.fence.sync.aligned;");
}'''
try:
    load_inline("f", "", source)
except Exception as error:
    print(type(error).__name__, error)
"""
    (said,) = answers(tmp_path, code, install=_INSTALL)
    expected = "NotCovered script.py:10: inline PTX (`asm`: `wgmma.fence.sync.aligned`) can't run"
    assert said.startswith(expected)


def test_without_cuda_sources_nothing_changes(tmp_path: Path) -> None:
    code = """
import torch.utils.cpp_extension as extension
real, calls = extension.load_inline.__wrapped__, []
inline.install()
print(extension.load_inline.__wrapped__ is real, extension.load_inline.on_cpu)
"""
    assert ["True True"] == answers(tmp_path, code, install=_INSTALL)
