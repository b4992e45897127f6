"""bfloat16 and floats of 8 bits in Triton's interpreter.

NumPy has no such types, so the interpreter keeps their bits as integers, and computes with these
as if they were the numbers. Here they are computed with in 32 bits, and rounded to the nearest once
for each operation, as on a GPU. What is too large for 8 bits becomes the largest number. Of a
number and of what is none the greater and the lesser is the number, unless a kernel asks otherwise.
"""

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from kernelbot.harness.inside.gpu.filling import fill_when_imported

_MODULE = "triton.runtime.interpreter"
_TORCH = {
    "fp8e5": "float8_e5m2",
    "fp8e4nv": "float8_e4m3fn",
    "fp8e4b8": "float8_e4m3fnuz",
    "fp8e5b16": "float8_e5m2fnuz",
}
"""Triton's names of 8-bit types, and torch's."""


def install() -> None:
    """Change Triton's interpreter, in this process until it ends, as soon as something imports it.
    Idempotent."""
    fill_when_imported((_MODULE,), _fill)


def _fill(module: ModuleType) -> None:
    interpreter: Any = module
    if not hasattr(interpreter.InterpreterBuilder, "get_bf16"):
        _Patches(interpreter).apply()


def is_small(kind: Any) -> bool:
    """Whether Triton's scalar type `kind` is kept as integers, and its values are known here."""
    return kind.name == "bf16" or kind.name in _TORCH


def widened(data: Any, kind: Any) -> Any:
    """What the bits stand for, an array of float32. `kind`: Triton's scalar type."""
    numpy: Any = importlib.import_module("numpy")
    if kind.name == "bf16":
        return (data.astype(numpy.uint32) << 16).view(numpy.float32)
    torch: Any = importlib.import_module("torch")
    bits = torch.from_numpy(numpy.array(data, numpy.uint8))
    return bits.view(getattr(torch, _TORCH[kind.name])).float().numpy()


def narrowed(values: Any, kind: Any) -> Any:
    """The bits of the nearest values of Triton's scalar type `kind`, ties to even."""
    numpy: Any = importlib.import_module("numpy")
    wide = numpy.array(values, numpy.float32)
    if kind.name == "bf16":
        bits = wide.view(numpy.uint32)
        nearest = (bits + numpy.uint32(0x7FFF) + (bits >> 16 & 1)) >> 16
        return numpy.where(numpy.isnan(wide), 0x7FFF, nearest).astype(numpy.uint16)
    torch: Any = importlib.import_module("torch")
    small = getattr(torch, _TORCH[kind.name])
    most = torch.finfo(small).max
    return torch.from_numpy(wide).clamp(-most, most).to(small).view(torch.uint8).numpy()


class _Patches:
    """What of the interpreter is replaced."""

    def __init__(self, interpreter: Any) -> None:
        self._module = interpreter
        self._builder = interpreter.InterpreterBuilder
        self._numpy: Any = importlib.import_module("numpy")

    @property
    def _language(self) -> Any:
        """Triton's language, which may be about to be loaded when the interpreter is."""
        return importlib.import_module("triton.language")

    def apply(self) -> None:
        for name in ("binary_op", "unary_op", "ternary_op", "create_fma"):
            self._replace(self._builder, name, self._computed)
        self._replace(self._builder, "cast_impl", self._cast)
        self._replace(self._builder, "create_fp_to_fp", self._cast)
        self._replace(self._builder, "create_dot", self._dot)
        self._replace(self._builder, "create_atomic_rmw", self._atomic)
        self._replace(self._builder, "create_clampf", self._clamp)
        for kind in (self._module.ReduceOps, self._module.ScanOps):
            self._replace(kind, "apply_impl", self._reduced)
        numpy = self._numpy
        self._builder.create_maxnumf = lambda own, lhs, rhs: own.binary_op(lhs, rhs, numpy.fmax)
        self._builder.create_minnumf = lambda own, lhs, rhs: own.binary_op(lhs, rhs, numpy.fmin)
        self._builder.get_bf16 = lambda _own, value: self._handle([value], self._language.bfloat16)

    def _replace(self, kind: Any, name: str, instead: Callable[..., Any]) -> None:
        original = getattr(kind, name)

        @functools.wraps(original)
        def replaced(*args: Any, **options: Any) -> Any:
            return instead(original, *args, **options)

        setattr(kind, name, replaced)

    def _handle(self, values: Any, kind: Any) -> Any:
        return self._module.TensorHandle(narrowed(values, kind), kind)

    def _is_small(self, handle: Any) -> bool:
        """Comparisons give truth values, and leave the type as it was."""
        is_integer = getattr(getattr(handle, "data", None), "dtype", None) in ("uint8", "uint16")
        return is_integer and is_small(handle.dtype.scalar)

    def _wide(self, handle: Any) -> Any:
        """The same value in 32 bits; what is none of these stays as it is."""
        if not self._is_small(handle):
            return handle
        data = widened(handle.data, handle.dtype.scalar)
        return self._module.TensorHandle(data, self._language.float32)

    def _computed(self, original: Callable[..., Any], own: Any, *given: Any) -> Any:
        small = [one for one in given if self._is_small(one)]
        if not small or given[-1] is self._numpy.where:  # it chooses, and computes nothing
            return original(own, *given)
        result = original(own, *map(self._wide, given))
        kind = small[0].dtype.scalar
        if result.data.dtype == bool:
            return self._module.TensorHandle(result.data, kind)
        return self._handle(result.data, kind)

    def _cast(
        self, original: Callable[..., Any], own: Any, src: Any, to: Any, rounding: Any = None
    ) -> Any:
        kind = to.scalar
        options = () if original.__name__ == "cast_impl" else (rounding,)
        towards_zero = rounding == self._module._ir.ROUNDING_MODE.RTZ
        if not (self._is_small(src) or is_small(kind)) or (is_small(kind) and towards_zero):
            return original(own, src, to, *options)
        wide = self._wide(src)
        if is_small(kind):
            return self._handle(wide.data, kind)
        data = wide.data.astype(self._module._get_np_dtype(to))
        return self._module.TensorHandle(data, kind)

    def _dot(
        self, original: Callable[..., Any], own: Any, a: Any, b: Any, d: Any, *options: Any
    ) -> Any:
        result = original(own, self._wide(a), self._wide(b), self._wide(d), *options)
        if self._is_small(d):
            return self._handle(result.data, d.dtype.scalar)
        return result

    def _atomic(
        self,
        original: Callable[..., Any],
        own: Any,
        operation: Any,
        ptr: Any,
        value: Any,
        *rest: Any,
    ) -> Any:
        exchanges = operation == self._module._ir.ATOMIC_OP.XCHG
        if self._is_small(value) and not exchanges:
            raise NotImplementedError(
                f"atomics of {value.dtype.scalar} have no values in Triton's interpreter, by which "
                "the device CPU runs kernels: add in float32, or submit it to a device with a GPU"
            )
        return original(own, operation, ptr, value, *rest)

    def _clamp(
        self, original: Callable[..., Any], own: Any, arg: Any, lo: Any, hi: Any, nans: Any
    ) -> Any:
        if nans == self._module._ir.PROPAGATE_NAN.ALL:
            return original(own, arg, lo, hi, nans)
        return own.create_minnumf(own.create_maxnumf(arg, lo), hi)

    def _reduced(self, original: Callable[..., Any], own: Any, given: Any) -> Any:
        """Reductions of bfloat16 values; other functions compute with such values by themselves."""
        standard = self._language.standard
        known = [standard._sum_combine, standard._prod_combine]
        known += [standard._elementwise_max, standard._elementwise_min]
        if own.combine_fn not in known or not self._is_small(given[0].handle):
            return original(own, given)
        found = original(own, tuple(self._wide_tensor(one) for one in given))
        results = found if isinstance(found, list | tuple) else [found]
        kind = given[0].dtype
        return [self._tensor(self._handle(one.handle.data, kind), one) for one in results]

    def _wide_tensor(self, tensor: Any) -> Any:
        return self._tensor(self._wide(tensor.handle), tensor)

    def _tensor(self, handle: Any, like: Any) -> Any:
        """A tensor of the handle's type, with the shape of another one."""
        kind = handle.dtype
        if like.type.is_block():
            kind = self._language.block_type(kind, list(like.shape))
        return self._language.tensor(handle, kind)
