"""Extensions of HIP's. clang is real, and there is no GPU."""

import pytest

from kernelbot.harness.inside.gpu.hip_toolchain import NoHipToolchain, find_toolchain

ARCH = "gfx942"
ADDED = "tile[threadIdx.x], 2.5f"
HIP = f"""
from torch.utils.cpp_extension import load_inline

HIP = \"\"\"
#include <hip/hip_runtime.h>
__global__ void __launch_bounds__(128) raised(float *x, int size) {{
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < size ? x[i] : 0.0f;
    __syncthreads();
    if (i < size) x[i] = powf({ADDED});
}}
\"\"\"
mine = load_inline("mine", ["int one() {{ return 1; }}"], [HIP], no_implicit_headers=True)

def custom_kernel(data):
    return data[2]
"""
"""A file that is compiled in some seconds: it has none of torch's headers."""


def why_no_hip() -> str:
    """Why HIP can't be compiled here; empty if it can."""
    try:
        found = find_toolchain(ARCH)
    except NoHipToolchain as error:
        return str(error)
    return "" if found.libraries else "AMD's device libraries aren't installed here"


needs_hip = pytest.mark.skipif(bool(why_no_hip()), reason=why_no_hip() or "it is here")
