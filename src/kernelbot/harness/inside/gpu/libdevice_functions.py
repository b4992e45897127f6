"""What the functions of libdevice compute, on arrays.

Facts of their names and values: CUDA's libdevice user's guide, and the CUDA math API.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

_Function = Callable[..., Any]


def compute(name: str, args: Sequence[Any]) -> Any:
    """The value of a function, still to be converted to the type of its result. Raises
    NotImplementedError for one that isn't here."""
    with np.errstate(all="ignore"):
        base, _, rounding = name.rpartition("_")
        if name in _FUNCTIONS:
            return np.asarray(_FUNCTIONS[name](*args))
        if rounding in _TO_WHOLE and base in _EXACT:
            return _rounded(_EXACT[base](*map(_wide, args)), args[0].dtype, rounding)
        if rounding in _TO_WHOLE and "2" in base:
            return _converted(args[0], base.partition("2")[2], rounding)
    raise NotImplementedError(f"libdevice.{name} isn't covered on the device CPU")


def _wide(values: Any) -> Any:
    """With room for what an operation on 32 bits gives exactly; of 64 there is no wider kind."""
    return values.astype(np.float64) if values.dtype == np.float32 else values


def _rounded(exact: Any, kind: np.dtype[Any], rounding: str) -> Any:
    """To the next value of a kind of floating point, in one of CUDA's four directions."""
    exact = np.asarray(exact)
    nearest = exact.astype(kind)
    if rounding == "rn":
        return nearest
    if exact.dtype == kind:
        raise NotImplementedError(f"rounding {rounding} of 64 bits isn't covered on the device CPU")
    down = np.where(nearest > exact, np.nextafter(nearest, kind.type(-np.inf)), nearest)
    up = np.where(nearest < exact, np.nextafter(nearest, kind.type(np.inf)), nearest)
    if rounding == "rz":
        return np.where(exact > 0, down, up)
    return down if rounding == "rd" else up


def _converted(values: Any, target: str, rounding: str) -> Any:
    if target in _WHOLE:
        limits = np.iinfo(_WHOLE[target])
        whole = np.nan_to_num(_TO_WHOLE[rounding](values.astype(np.longdouble)), nan=0.0)
        return np.clip(whole, limits.min, limits.max).astype(_WHOLE[target])
    kind = np.dtype(np.float32 if target == "float" else np.float64)
    return _rounded(values.astype(np.longdouble), kind, rounding)


def _of_torch(function: Any) -> _Function:
    def call(*values: Any) -> Any:
        given = [torch.from_numpy(np.ascontiguousarray(value)) for value in values]
        shaped = torch.broadcast_tensors(*given)
        return np.asarray(function(*shaped).numpy())

    return call


def _each(function: Callable[[float], float]) -> _Function:
    """A function of single numbers; NaN where it has no value."""

    def one(value: float) -> float:
        try:
            return function(value)
        except (ValueError, OverflowError):
            return math.nan if math.isnan(value) or value <= 0 else math.inf

    return np.vectorize(one, otypes=[np.float64])


def _power(base: Any, exponent: Any) -> Any:
    return np.power(base, exponent.astype(base.dtype))


def _half_away(values: Any) -> Any:
    return np.where(np.abs(values) < 0.5, 0 * values, np.trunc(values + np.copysign(0.5, values)))


def _exponent(values: Any) -> Any:
    return np.frexp(values)[1] - 1


def _high_half(left: Any, right: Any) -> Any:
    bits = left.dtype.itemsize * 8
    return (left.astype(object) * right.astype(object) >> bits).astype(left.dtype)


def _low_24(values: Any) -> Any:
    signed = np.issubdtype(values.dtype, np.signedinteger)
    low = values.astype(np.int64) & 0xFFFFFF
    return np.where(signed & (low >= 1 << 23), low - (1 << 24), low)


def _product_24(left: Any, right: Any) -> Any:
    low = _low_24(left) * _low_24(right) & 0xFFFFFFFF
    return low.astype(np.uint32).view(left.dtype)


def _unsigned(values: Any) -> Any:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def _bits(values: Any, count: Callable[[str], int]) -> Any:
    """A figure of the binary digits of each number."""
    digits = values.dtype.itemsize * 8
    counted = [count(f"{int(value):0{digits}b}") for value in _unsigned(values).ravel()]
    return np.array(counted, object).reshape(values.shape)


def _reversed(values: Any) -> Any:
    whole = _bits(values, lambda digits: int(digits[::-1], 2))
    return whole.astype(_unsigned(values).dtype).view(values.dtype)


def _chosen_bytes(left: Any, right: Any, selector: Any) -> Any:
    both = _unsigned(left).astype(np.uint64) | _unsigned(right).astype(np.uint64) << np.uint64(32)
    chosen = np.zeros_like(both)
    for place in range(4):
        which = (_unsigned(selector).astype(np.uint64) >> np.uint64(4 * place)) & np.uint64(7)
        byte = both >> (which * np.uint64(8)) & np.uint64(0xFF)
        chosen |= byte << np.uint64(8 * place)
    return chosen.astype(np.uint32).view(left.dtype)


def _mean(left: Any, right: Any, more: int = 0) -> Any:
    return (left.astype(np.int64) + right.astype(np.int64) + more) >> 1


def _norm(*values: Any) -> Any:
    return np.sqrt(sum(_wide(value) ** 2 for value in values))


def _viewed(kind: Any) -> _Function:
    return lambda values: np.ascontiguousarray(values).view(kind)


_WHOLE: dict[str, Any] = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}
_TO_WHOLE: dict[str, _Function] = {
    "rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil,
}  # fmt: skip
_EXACT: dict[str, _Function] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "rcp": np.reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "fma": lambda x, y, z: x * y + z,
}
"""With a direction of rounding in their names."""
_FUNCTIONS: dict[str, _Function] = {
    **{
        name: getattr(np, name)
        for name in (
            *("abs", "floor", "ceil", "trunc", "exp", "exp2", "expm1", "log", "log2", "log10"),
            *("log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "rint"),
            *("hypot", "copysign", "nextafter", "signbit", "isnan", "isinf", "fmod"),
        )
    },
    **{
        f"a{name}": getattr(np, f"arc{name}")
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **{name: _of_torch(getattr(torch, name)) for name in ("erf", "erfc", "erfinv", "lgamma")},
    **{
        f"{name}{n}": _of_torch(getattr(torch.special, f"bessel_{name}{n}"))
        for name in "jy"
        for n in (0, 1)
    },
    "atan2": np.arctan2,
    "isfinited": np.isfinite,
    "finitef": np.isfinite,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "sinpi": lambda x: np.sin(np.pi * np.fmod(_wide(x), 2)),
    "cospi": lambda x: np.cos(np.pi * np.fmod(_wide(x), 2)),
    "erfcx": _of_torch(torch.special.erfcx),
    "erfcinv": _of_torch(lambda x: -torch.special.ndtri(x.double() / 2) / math.sqrt(2)),
    "normcdf": _of_torch(torch.special.ndtr),
    "normcdfinv": _of_torch(torch.special.ndtri),
    "cyl_bessel_i0": _of_torch(torch.special.i0),
    "cyl_bessel_i1": _of_torch(torch.special.i1),
    "tgamma": _each(math.gamma),
    "pow": _power,
    "remainder": lambda x, y: x - y * np.rint(x / y),
    "fma": lambda x, y, z: _wide(x) * _wide(y) + _wide(z),
    "fdim": lambda x, y: np.where(np.isnan(x + y), x + y, np.maximum(x - y, 0)),
    "ldexp": np.ldexp,
    "scalbn": np.ldexp,
    "logb": _exponent,
    "ilogb": _exponent,
    "llrint": np.rint,
    "nearbyint": np.rint,
    "round": _half_away,
    "llround": _half_away,
    "saturatef": lambda x: np.clip(np.nan_to_num(x, nan=0.0), 0, 1),
    **{f"norm{n}d": _norm for n in (3, 4)},
    **{f"rnorm{n}d": lambda *values: 1 / _norm(*values) for n in (3, 4)},
    **{
        f"fast_{name}f": getattr(np, name) for name in ("sin", "cos", "tan", "exp", "log2", "log10")
    },
    "fast_logf": np.log,
    "fast_tanhf": np.tanh,
    "fast_exp10f": lambda x: np.power(x.dtype.type(10), x),
    "fast_powf": _power,
    "fast_dividef": np.divide,
    "clz": lambda x: _bits(x, lambda digits: len(digits) - len(digits.lstrip("0"))),
    "popc": lambda x: _bits(x, lambda digits: digits.count("1")),
    "ffs": lambda x: _bits(x, lambda digits: (len(digits) - digits.rfind("1")) * ("1" in digits)),
    "brev": _reversed,
    "byte_perm": _chosen_bytes,
    "mulhi": _high_half,
    "mul24": _product_24,
    "sad": lambda x, y, z: np.abs(x.astype(np.int64) - y) + z,
    "hadd": _mean,
    "rhadd": lambda x, y: _mean(x, y, 1),
    **{name: _viewed(np.float32) for name in ("int_as_float", "uint_as_float")},
    "float_as_int": _viewed(np.int32),
    "float_as_uint": _viewed(np.uint32),
    "longlong_as_double": _viewed(np.float64),
    "double_as_longlong": _viewed(np.int64),
}
