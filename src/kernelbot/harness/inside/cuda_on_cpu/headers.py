"""The C++ headers that stand in for the toolkit's, and how sources are compiled with them."""

import pkgutil

CUB_HEADERS = (
    "cub/block/block_exchange.cuh",
    "cub/block/block_histogram.cuh",
    "cub/block/block_load.cuh",
    "cub/block/block_radix_sort.cuh",
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
        "BlockExchange",
        "BlockHistogram",
        "BlockHistogramAlgorithm",
        "BlockLoad",
        "BlockLoadAlgorithm",
        "BlockRadixSort",
        "BlockReduce",
        "BlockReduceAlgorithm",
        "BlockScan",
        "BlockScanAlgorithm",
        "BlockStore",
        "BlockStoreAlgorithm",
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
LIBCU_HEADERS = (
    "cuda/functional",
    "cuda/std/algorithm",
    "cuda/std/array",
    "cuda/std/cmath",
    "cuda/std/cstddef",
    "cuda/std/cstdint",
    "cuda/std/functional",
    "cuda/std/limits",
    "cuda/std/tuple",
    "cuda/std/type_traits",
    "cuda/std/utility",
)
"""Of libcu++: C++'s own library by another name."""
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
        "_constants",
        "_copies",
        "_cub",
        "_cub_sort",
        "_faults",
        "_functional",
        "_groups",
        "_half",
        "_half_more",
        "_hip",
        "_hip_fp8",
        "_hip_runtime",
        "_hip_torch",
        "_hip_vectors",
        "_hip_warp",
        "_hooks",
        "_launch",
        "_math",
        "_races",
        "_runtime",
        "_shared",
        "_stacks",
        "_torch",
        "_types",
        "_undefined",
        "_warp",
    )
)
_STAND_INS = (
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
    "cooperative_groups/scan.h",
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
    "math_functions.h",
    "sm_30_intrinsics.h",
    "vector_functions.h",
    "vector_types.h",
)
HIP_HEADERS = (
    "hip/amd_detail/amd_device_functions.h",
    "hip/amd_detail/amd_hip_atomic.h",
    "hip/amd_detail/amd_hip_bf16.h",
    "hip/amd_detail/amd_hip_bfloat16.h",
    "hip/amd_detail/amd_hip_cooperative_groups.h",
    "hip/amd_detail/amd_hip_fp16.h",
    "hip/amd_detail/amd_hip_fp8.h",
    "hip/amd_detail/amd_hip_runtime.h",
    "hip/amd_detail/amd_hip_vector_types.h",
    "hip/amd_detail/amd_warp_functions.h",
    "hip/amd_detail/amd_warp_sync_functions.h",
    "hip/device_functions.h",
    "hip/driver_types.h",
    "hip/hip_bf16.h",
    "hip/hip_bfloat16.h",
    "hip/hip_common.h",
    "hip/hip_cooperative_groups.h",
    "hip/hip_fp16.h",
    "hip/hip_fp8.h",
    "hip/hip_runtime.h",
    "hip/hip_runtime_api.h",
    "hip/hip_vector_types.h",
    "hip/math_functions.h",
)
TORCH_HIP_HEADERS = (
    "ATen/hip/Exceptions.h",
    "ATen/hip/HIPContext.h",
    "ATen/hip/impl/HIPGuardImplMasqueradingAsCUDA.h",
    "ATen/hip/impl/HIPStreamMasqueradingAsCUDA.h",
    "c10/hip/HIPException.h",
    "c10/hip/HIPFunctions.h",
    "c10/hip/HIPGuard.h",
    "c10/hip/HIPStream.h",
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
    "-fwrapv",
    "-fstack-clash-protection",
    "-Wall",
    "-Wno-unknown-pragmas",
    "-Wno-unused-variable",
)
"""Options of g++. Lines are kept for what goes wrong in a kernel. Arrays that are larger than a
thread's stack reach its guard page, and not another's stack."""

HIP_FLAGS = (
    "-fno-crossjumping",
    "-fno-optimize-sibling-calls",
    "-fno-reorder-blocks",
    "-fno-thread-jumps",
    "-fno-tree-tail-merge",
)
"""So that each exchange without a mask stays at one place, in the order of the source: by where
lanes wait it is told who is together. They suffice with `-O1`: `-O2` moves what is unlikely."""

_COPIES = ("memcpy", "memmove", "memset")
CHECKED_FLAGS = (
    "-fsanitize=thread",
    "-fsanitize=alignment,shift-exponent,float-cast-overflow,integer-divide-by-zero",
    "-fno-crossjumping",
    "-fno-tree-tail-merge",
    *(f"-fno-builtin-{name}" for name in _COPIES),
    "-U_FORTIFY_SOURCE",
    "-DCUDA_ON_CPU_CHECK",
)
"""So that the compiler calls our functions at each access of memory, and before what a GPU does
otherwise than a processor; that two barriers stay two; and that what copies is called."""
CHECKED_LINKING = tuple(f"-Wl,--wrap={name}" for name in _COPIES)
"""What copies and fills is ours first."""
CHECKED_LIBRARIES = (*CHECKED_LINKING, "-nodefaultlibs", "-lstdc++", "-lm", "-lgcc_s", "-lc")
"""All but the sanitizer's own, whose functions ours are."""

_HIP_ALONE = (
    b"#ifndef CUDA_ON_CPU_HIP\n"
    b'#error "HIP runs here only if its headers are named in an #include, not by a macro"\n'
    b"#endif\n"
)
"""What is in front of a header of HIP's: whose rules hold was decided before."""


def header_files() -> dict[str, bytes]:
    """All headers by their paths beside the sources."""
    files = {}
    for name in _OWN:
        content = pkgutil.get_data(__package__, f"headers/{name}")
        assert content is not None, f"{name} is packaged with this module"
        files[f"{FOLDER}/{name}"] = content
    include = b'#include "cuda_on_cpu.h"\n'
    files |= {f"{FOLDER}/{name}": include for name in _STAND_INS}
    constants = include + b'#include "cuda_on_cpu_constants.h"\n'
    files |= {f"{FOLDER}/math_constants.h": constants}
    files |= {f"{FOLDER}/{name}": include + _standard_header(name) for name in LIBCU_HEADERS}
    cub = include + b'#include "cuda_on_cpu_cub.h"\n'
    files |= {f"{FOLDER}/{name}": cub for name in CUB_HEADERS}
    return files | {f"{FOLDER}/{name}": _HIP_ALONE + include for name in HIP_HEADERS}


def torch_header_files() -> dict[str, bytes]:
    """The same for an extension of torch, with what stands in for torch's own headers of CUDA."""
    include = b'#include "cuda_on_cpu_torch.h"\n'
    files = header_files() | {f"{FOLDER}/{name}": include for name in _TORCH_STAND_INS}
    return files | {f"{FOLDER}/{name}": _HIP_ALONE + include for name in TORCH_HIP_HEADERS}


def _standard_header(name: str) -> bytes:
    """What one of libcu++'s includes: C++'s of its name, and those names for it."""
    own = f'#include <{name.rsplit("/")[-1]}>\n#include "cuda_on_cpu_functional.h"\n'
    return own.encode()
