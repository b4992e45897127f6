"""What of CUDA and HIP can't run on the processor, found before anything is compiled."""

import re
from collections.abc import Iterator, Sequence

from kernelbot.harness.inside.cuda_on_cpu.headers import (
    CUB_HEADERS,
    CUB_NAMES,
    HIP_HEADERS,
    LIBCU_HEADERS,
    TORCH_HIP_HEADERS,
)
from kernelbot.harness.inside.cuda_on_cpu.tokens import SourceToken, SourceTokenKind

_HEADERS = {
    "cub/": "CUB",
    "thrust/": "Thrust",
    "cutlass/": "CUTLASS",
    "cute/": "CuTe",
    "cuda/": "libcu++",
    "nvcuda": "tensor cores",
    "mma.h": "tensor cores (wmma)",
    "cuda_fp8": "8-bit floating point",
    "cuda_fp6": "6-bit floating point",
    "cuda_fp4": "4-bit floating point",
    "cuda_pipeline": "asynchronous copies",
    "cudaTypedefs": "the driver's interface",
    "cuda.h>": "",
    "cublas": "cuBLAS",
    "cudnn": "cuDNN",
    "cufft": "cuFFT",
    "curand": "cuRAND",
    "cusolver": "cuSOLVER",
    "cusparse": "cuSPARSE",
    "nccl": "NCCL",
    "nvrtc": "NVRTC",
    "nvshmem": "NVSHMEM",
    "rocwmma": "tensor cores (rocWMMA)",
}
"""By how an included header's name begins; empty: it is covered."""
_HIP_HEADERS = {
    "hip/": "HIP",
    "ATen/hip/": "torch for HIP",
    "c10/hip/": "torch for HIP",
    "ck/": "Composable Kernel",
    "ck_tile/": "Composable Kernel",
    "hipblas": "hipBLAS",
    "hipcub/": "hipCUB",
    "hipfft": "hipFFT",
    "hiprand": "hipRAND",
    "hipsolver": "hipSOLVER",
    "hipsparse": "hipSPARSE",
    "miopen": "MIOpen",
    "rccl": "RCCL",
    "rocblas": "rocBLAS",
    "rocprim/": "rocPRIM",
    "rocrand": "rocRAND",
}
"""The same of HIP and its libraries, but for the headers that are covered by their whole names."""
_NAMES = {
    "wmma": "tensor cores (wmma)",
    "nvcuda": "tensor cores (wmma)",
    "memcpy_async": "asynchronous copies",
    "__pipeline_memcpy_async": "asynchronous copies",
    "this_grid": "barriers of the whole grid",
    "grid_group": "barriers of the whole grid",
    "this_cluster": "clusters of blocks",
    "cluster_group": "clusters of blocks",
    "__cluster_dims__": "clusters of blocks",
    "cudaLaunchKernel": "launches other than <<<...>>>",
    "cudaLaunchKernelEx": "clusters of blocks",
    "cudaLaunchKernelExC": "clusters of blocks",
    "cudaLaunchCooperativeKernel": "barriers of the whole grid",
    "CUtensorMap": "TMA",
    "cuTensorMapEncodeTiled": "TMA",
    "cudaTextureObject_t": "textures",
    "cudaSurfaceObject_t": "surfaces",
    "cudaGraphLaunch": "graphs",
    "cudaStreamBeginCapture": "graphs",
    "hipExtLaunchKernelGGL": "launches other than <<<...>>> and hipLaunchKernelGGL",
    "hipLaunchKernel": "launches other than <<<...>>> and hipLaunchKernelGGL",
    "hipLaunchKernelExC": "launches other than <<<...>>> and hipLaunchKernelGGL",
    "hipModuleLaunchKernel": "launches other than <<<...>>> and hipLaunchKernelGGL",
    "hipLaunchCooperativeKernel": "barriers of the whole grid",
    "hipTextureObject_t": "textures",
    "hipSurfaceObject_t": "surfaces",
    "hipGraphLaunch": "graphs",
    "hipStreamBeginCapture": "graphs",
}
_CLANGS = {
    "address_space": "AMD's address spaces",
    "ext_vector_type": "clang's vectors",
    "__ext_vector_type__": "clang's vectors",
}
"""What HIP's compiler reads and g++ leaves out."""
_OF_PARTS = (
    *(f"__v{kind}" for kind in ("abs", "add", "avg", "cmp", "hadd", "max", "min", "neg", "sad")),
    *(f"__v{kind}" for kind in ("set", "sub", "iadd", "imax", "imin", "ibmax", "ibmin")),
)
_PREFIXES = {
    "__nv_fp8": "8-bit floating point",
    "__nv_fp6": "6-bit floating point",
    "__nv_fp4": "4-bit floating point",
    "__builtin_amdgcn_mfma_": "AMD's matrix cores",
    "__builtin_amdgcn_smfmac_": "AMD's matrix cores",
    "__builtin_amdgcn_": "AMD's instructions",
    "__ockl_": "AMD's device libraries",
    "__ocml_": "AMD's device libraries",
    "__hip_atomic_": "clang's atomics",
    **dict.fromkeys(_OF_PARTS, "arithmetic of the 8 or 16 bits within a word"),
    "clock64": "clocks of the GPU",
    "__cvta_": "addresses of one kind of memory",
    "tex1D": "textures",
    "tex2D": "textures",
    "tex3D": "textures",
}
_CUB_ALGORITHMS = ("BLOCK_REDUCE_", "BLOCK_SCAN_", "BLOCK_LOAD_", "BLOCK_STORE_", "BLOCK_HISTO_")
_ASM = frozenset({"asm", "__asm", "__asm__"})
_MOST_SHOWN = 60
_ONLY_INLINE = "HIP, which runs here only if a Python file builds it by `load_inline`"


class NotCovered(Exception):
    """A source needs what only a GPU has; the text says what, where, and what to do. `file`: the
    source's name."""

    def __init__(self, file: str, text: str) -> None:
        super().__init__(text)
        self.file = file


def refuse_uncovered(name: str, tokens: Sequence[SourceToken], *, hip: bool = False) -> None:
    """Raise `NotCovered` for the first of what can't run here. `name`: of the author's file.
    `hip`: HIP's headers are covered."""
    what_then = "Submit it to a device with a GPU."
    if not hip:
        what_then = (
            "See by `kernelbot preflight` whether it compiles for a GPU, and submit it to a device "
            "with one."
        )
    significant = [token for token in tokens if token.kind is not SourceTokenKind.SPACE]
    for line, what in _uncovered(significant, hip=hip):
        raise NotCovered(name, f"{name}:{line}: {what} can't run on the device CPU. {what_then}")


def _uncovered(tokens: Sequence[SourceToken], *, hip: bool) -> Iterator[tuple[int, str]]:
    names = _NAMES | _CLANGS if hip else _NAMES
    for at, token in enumerate(tokens):
        if token.kind is not SourceTokenKind.NAME:
            continue
        if token.text in _ASM:
            yield token.line, _instruction(tokens[at + 1 : at + 8], hip=hip)
        elif token.text == "include" and at and tokens[at - 1].text == "#":
            if what := _header(tokens, at + 1, hip=hip):
                yield token.line, what
        elif token.text == "cub" and (name := _of_cub(tokens, at)):
            yield token.line, f"`cub::{name[:_MOST_SHOWN]}` (CUB)"
        elif what := names.get(token.text, ""):
            yield token.line, f"`{token.text}` ({what})"
        else:
            for prefix, what in _PREFIXES.items():
                if token.text.startswith(prefix):
                    yield token.line, f"`{token.text[:_MOST_SHOWN]}` ({what})"


def _instruction(tokens: Sequence[SourceToken], *, hip: bool) -> str:
    """Names the first instruction of an `asm` statement."""
    kind = "inline assembly" if hip else "inline PTX"
    for token in tokens:
        if token.kind is SourceTokenKind.TEXT:
            written = token.text.strip('"').replace("\\n", " ").replace("\\t", " ")
            statements = (part.split() for part in re.split("[;{}]", written))
            for words in statements:
                first = next((word for word in words if word[0] != "@"), ".")
                if first[0] not in ".%$":
                    return f"{kind} (`asm`: `{first[:_MOST_SHOWN]}`)"
    return f"{kind} (`asm`)"


def _of_cub(tokens: Sequence[SourceToken], at: int) -> str:
    """The name behind `cub::` if it isn't covered; empty if it is, or there is none."""
    if [token.text for token in tokens[at + 1 : at + 2]] != ["::"]:
        return ""
    name = tokens[at + 2].text if at + 2 < len(tokens) else ""
    known = name in CUB_NAMES or name.startswith(_CUB_ALGORITHMS)
    return "" if known or not name.isidentifier() else name


def _header(tokens: Sequence[SourceToken], at: int, *, hip: bool) -> str:
    """Says which header isn't covered; empty if it is."""
    line = tokens[at - 1].line
    same = [token.text for token in tokens[at : at + 16] if token.line == line]
    written = "".join(same).lstrip('<"')
    header = written.rstrip('>"')
    if header in (*CUB_HEADERS, *LIBCU_HEADERS) and not hip:
        return ""
    if header in HIP_HEADERS or header in TORCH_HIP_HEADERS:
        return "" if hip else f"`#include <{header}>` ({_ONLY_INLINE})"
    for beginning, what in (*_HEADERS.items(), *_HIP_HEADERS.items()):
        if written.startswith(beginning):
            return f"`#include <{header[:_MOST_SHOWN]}>` ({what})" if what else ""
    return ""
