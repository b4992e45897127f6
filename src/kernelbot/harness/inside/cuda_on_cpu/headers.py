"""The C++ headers that stand in for the toolkit's, and how sources are compiled with them."""

import pkgutil

CUB_HEADERS = (
    "cub/block/block_load.cuh",
    "cub/block/block_reduce.cuh",
    "cub/block/block_scan.cuh",
    "cub/block/block_store.cuh",
    "cub/cub.cuh",
    "cub/warp/warp_reduce.cuh",
    "cub/warp/warp_scan.cuh",
)
CUB_NAMES = frozenset(
    {
        "ArgMax",
        "ArgMin",
        "BlockLoad",
        "BlockReduce",
        "BlockScan",
        "BlockStore",
        "Difference",
        "Equality",
        "Inequality",
        "KeyValuePair",
        "Max",
        "Min",
        "Sum",
        "WarpReduce",
        "WarpScan",
    }
)
"""What of CUB is there."""
FOLDER = "cuda_on_cpu"
"""Where they lie, beside the sources."""
_OWN = tuple(
    f"cuda_on_cpu{part}.h"
    for part in (
        "",
        "_accesses",
        "_atomics",
        "_block",
        "_checks",
        "_cub",
        "_groups",
        "_half",
        "_hooks",
        "_math",
        "_races",
        "_runtime",
        "_stacks",
        "_torch",
        "_types",
        "_warp",
    )
)
_STAND_INS = (
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
    "cuda.h",
    "cuda_bf16.h",
    "cuda_bf16.hpp",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_atomic_functions.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "driver_types.h",
    "math_constants.h",
    "math_functions.h",
    "sm_30_intrinsics.h",
    "vector_functions.h",
    "vector_types.h",
)
_TORCH_STAND_INS = (
    "ATen/cuda/CUDAContext.h",
    "ATen/cuda/Exceptions.h",
    "c10/cuda/CUDAException.h",
    "c10/cuda/CUDAFunctions.h",
    "c10/cuda/CUDAGuard.h",
    "c10/cuda/CUDAStream.h",
)
FLAGS = (
    "-std=c++20",
    "-O2",
    "-g1",
    "-march=native",
    "-ffp-contract=fast",
    "-fno-strict-aliasing",
    "-fno-threadsafe-statics",
    "-fno-gnu-unique",
    "-Wall",
    "-Wno-unknown-pragmas",
    "-Wno-unused-variable",
)
"""Options of g++. Lines are kept for what goes wrong in a kernel."""

CHECKED_FLAGS = ("-fsanitize=thread", "-DCUDA_ON_CPU_CHECK")
"""So that the compiler calls our functions at each access of memory."""
CHECKED_LIBRARIES = ("-nodefaultlibs", "-lstdc++", "-lm", "-lgcc_s", "-lc")
"""All but the sanitizer's own, whose functions ours are."""


def header_files() -> dict[str, bytes]:
    """All headers by their paths beside the sources."""
    files = {}
    for name in _OWN:
        content = pkgutil.get_data(__package__, f"headers/{name}")
        assert content is not None, f"{name} is packaged with this module"
        files[f"{FOLDER}/{name}"] = content
    include = b'#include "cuda_on_cpu.h"\n'
    files |= {f"{FOLDER}/{name}": include for name in _STAND_INS}
    include += b'#include "cuda_on_cpu_cub.h"\n'
    return files | {f"{FOLDER}/{name}": include for name in CUB_HEADERS}


def torch_header_files() -> dict[str, bytes]:
    """The same for an extension of torch, with what stands in for torch's own headers of CUDA."""
    include = b'#include "cuda_on_cpu_torch.h"\n'
    return header_files() | {f"{FOLDER}/{name}": include for name in _TORCH_STAND_INS}
