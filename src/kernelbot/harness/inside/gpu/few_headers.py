"""In place of torch's headers, for kernels that are compiled and not run.

`FEW` has what sources of kernels use most of them, a quarter of the whole. The types are torch's
own. Functions of `torch::` are those of `at::`, which differ in what they do on the host alone.
Whatever else a source names isn't there: then it is compiled with the whole.

`CUDAS` has what is missing where torch was built without CUDA: its headers for CUDA are there, but
for one that its build writes, and they need libraries' headers that many a toolkit hasn't got, as
the package index's.
"""

from pathlib import Path

FEW, CUDAS = "few", "cudas"
"""Folders."""

_NAMES = ("torch/types.h", "torch/extension.h", "torch/all.h", "torch/torch.h", "ATen/ATen.h")
_MACROS = "c10/cuda/impl/cuda_cmake_macros.h"
_CONTEXTS = ("ATen/cuda/CUDAContext.h", "ATen/cuda/CUDAContextLight.h")
_FUNCTIONS = (
    "arange", "cat", "empty", "empty_like", "empty_strided", "from_blob", "full", "full_like",
    "ones", "ones_like", "stack", "sum", "zeros", "zeros_like",
)  # fmt: skip
_NUMBERS = {
    "UInt8": "Byte", "Int8": "Char", "Int16": "Short", "Int32": "Int", "Int64": "Long",
    "Float16": "Half", "Float32": "Float", "Float64": "Double",
    "U8": "Byte", "I8": "Char", "I16": "Short", "I32": "Int", "I64": "Long",
    "F16": "Half", "F32": "Float", "F64": "Double",
}  # fmt: skip
_COMMON = "kernelbot/few_of_torch.h"
_CONTEXT = """#pragma once
#include <cuda_runtime_api.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <ATen/core/Tensor.h>
namespace at::cuda {
using namespace c10::cuda;
cudaDeviceProp* getCurrentDeviceProperties();
cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
int warp_size();
}
"""


def write_headers(folder: Path) -> None:
    """Write both folders below `folder`."""
    for name, text in _texts().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _texts() -> dict[str, str]:
    include = f"#pragma once\n#include <{_COMMON}>\n"
    few = {_COMMON: _common()} | dict.fromkeys(_NAMES, include)
    cudas = {_MACROS: "#pragma once\n"} | dict.fromkeys(_CONTEXTS, _CONTEXT)
    return {
        **{f"{FEW}/{name}": text for name, text in few.items()},
        **{f"{CUDAS}/{name}": text for name, text in cudas.items()},
    }


def _common() -> str:
    headers = ("ATen/core/Tensor.h", "ATen/Dispatch.h", "optional")
    functions = (f"ATen/ops/{name}.h" for name in _FUNCTIONS)
    numbers = (f"constexpr auto k{name} = at::k{of};" for name, of in _NUMBERS.items())
    return "\n".join(
        (
            "#pragma once",
            *(f"#include <{name}>" for name in (*headers, *functions)),
            "namespace torch {",
            "using namespace at;",
            "using std::nullopt;",
            "using std::optional;",
            "using Dtype = at::ScalarType;",
            *numbers,
            "}\n",
        )
    )
