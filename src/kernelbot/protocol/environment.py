"""Which environment variables the platform passes to the harness and to everything it starts.

The names that may pass are listed, because a list of names to leave out would always lack one:
tokens, database addresses and passwords stay with the processes that need them.
"""

from collections.abc import Mapping

_NAMES = frozenset(
    (
        "CC",
        "CXX",
        "HOME",
        "KERNELBOT_SANDBOX_UID",
        "KERNELBOT_TURN",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "PATH",
        "TMPDIR",
        "TZ",
        "VIRTUAL_ENV",
        "XDG_CACHE_HOME",
    )
)
_PREFIXES = (
    "COVERAGE_",
    "CUDA_",
    "GPU_",
    "HIP_",
    "HSA_",
    "LC_",
    "MKL_",
    "NCCL_",
    "NUMEXPR_",
    "NVIDIA_",
    "OMP_",
    "OPENBLAS_",
    "PYTHON",
    "RCCL_",
    "ROCM_",
    "ROCR_",
    "TORCH_",
    "TRITON_",
)


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that harness, judges and sandboxes start with."""
    return {
        name: value
        for name, value in environment.items()
        if name in _NAMES or name.startswith(_PREFIXES)
    }
