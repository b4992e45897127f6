"""AMD's `aiter`, if it isn't installed: what public problems use of it, as shapes alone.

MXFP4 packs two numbers into a byte, with one byte of scale for 32 of them; scales are padded to 256
rows and 8 columns. Nothing is computed.
"""

import importlib.util
import sys
from types import ModuleType
from typing import Any

_NAMES = (
    "aiter",
    "aiter.fused_moe",
    "aiter.mla",
    "aiter.ops",
    "aiter.ops.shuffle",
    "aiter.ops.triton",
    "aiter.ops.triton.quant",
    "aiter.utility",
    "aiter.utility.fp4_utils",
)
_GROUP, _ROWS, _COLUMNS = 32, 256, 8


def install() -> None:
    """Make its modules importable, if they aren't."""
    if importlib.util.find_spec("aiter") is not None:
        return
    import torch

    def quantised(x: Any, **_options: Any) -> tuple[Any, Any]:
        *rows, columns = x.shape
        flat = x.numel() // columns
        packed = torch.empty((*rows, columns // 2), dtype=torch.uint8, device="cuda")
        padded = (_up(flat, _ROWS), _up(-(-columns // _GROUP), _COLUMNS))
        return packed, torch.empty(padded, dtype=torch.uint8, device="cuda")

    def product(a: Any, b: Any, *_scales: Any, **_options: Any) -> Any:
        return torch.empty((a.shape[0], b.shape[0]), dtype=torch.bfloat16, device="cuda")

    dtypes = ModuleType("dtypes")
    vars(dtypes).update(
        fp4x2=torch.uint8, fp8_e8m0=torch.uint8, fp8=torch.float8_e4m3fn, bf16=torch.bfloat16
    )
    offered = {
        "dtypes": dtypes,
        "QuantType": _Anything(),
        "ActivationType": _Anything(),
        "get_torch_quant": lambda _kind: quantised,
        "dynamic_mxfp4_quant": quantised,
        "gemm_a4w4": product,
        "shuffle_weight": lambda x, **_options: x.clone(),
        "e8m0_shuffle": lambda x: x.clone(),
        "mxfp4_to_f32": lambda x: torch.empty((*x.shape[:-1], 2 * x.shape[-1]), device="cuda"),
        "e8m0_to_f32": lambda x: x.float(),
        "fused_moe": lambda hidden, *_weights, **_options: torch.empty_like(hidden),
        "mla_decode_fwd": lambda *_args, **_options: None,
        "get_mla_metadata_info_v1": lambda *_args, **_options: [((1,), torch.int32)] * 6,
        "get_mla_metadata_v1": lambda *_args, **_options: None,
    }
    for name in _NAMES:
        module = sys.modules[name] = ModuleType(name)
        vars(module).update(offered)
    for name in _NAMES[1:]:
        parent, _, last = name.rpartition(".")
        if last not in offered:
            setattr(sys.modules[parent], last, sys.modules[name])


class _Anything:
    """Has every name."""

    def __getattr__(self, name: str) -> str:
        return name


def _up(count: int, step: int) -> int:
    return -(-count // step) * step
