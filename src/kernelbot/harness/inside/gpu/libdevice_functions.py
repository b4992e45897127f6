"""What the functions of libdevice compute, on arrays.

Facts of their names and values: CUDA's libdevice user's guide, and the CUDA math API.
"""

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
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
            return _rounded(_EXACT[base](*args), args[0].dtype, rounding)
        if rounding in _TO_WHOLE and "2" in base:
            return _converted(args[0], base.partition("2")[2], rounding)
    raise NotImplementedError(f"libdevice.{name} isn't covered on the device CPU")


def _wide(values: Any) -> Any:
    """With room for a product of two numbers of 32 bits; of 64 there is no wider kind."""
    return values.astype(np.float64) if values.dtype == np.float32 else values


def _sum(left: Any, right: Any) -> tuple[Any, Any]:
    """A sum, and what its rounding has left out (Knuth's TwoSum)."""
    total = left + right
    part = total - left
    return total, (left - (total - part)) + (right - part)


def _sticky(total: Any, left_out: Any) -> Any:
    """A sum of 64 bits that rounds to 32 bits as the exact one does: rounded to odd, if anything
    was left out of it (Boldo and Melquiond, 2008)."""
    inexact = np.isfinite(total) & (left_out != 0)
    away = np.signbit(total) != np.signbit(left_out)
    cut = np.where(inexact & away, np.nextafter(total, 0.0), total)
    return np.where(inexact, (cut.view(np.int64) | 1).view(np.float64), total)


def _added(left: Any, right: Any) -> Any:
    if left.dtype != np.float32:
        return left + right
    return _sticky(*_sum(*np.broadcast_arrays(_wide(left), _wide(right))))


def _fused(left: Any, right: Any, addend: Any) -> Any:
    """A product and a sum with one rounding at the end."""
    if left.dtype != np.float32:
        return _fused_double(left, right, addend)
    left, right, addend = np.broadcast_arrays(_wide(left), _wide(right), _wide(addend))
    return _sticky(*_sum(left * right, addend))


def _fused_one(left: float, right: float, addend: float) -> float:
    if not (math.isfinite(left) and math.isfinite(right)):
        return left * right + addend
    if not math.isfinite(addend):
        return addend
    exact = Fraction(left) * Fraction(right) + Fraction(addend)
    if not exact:
        return left * right + addend  # of which zero it is
    sign = 1.0 if exact > 0 else -1.0
    try:
        return sign * float(abs(exact))
    except OverflowError:
        return sign * math.inf


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
    if target not in _WHOLE:
        kind = np.dtype(np.float32 if target == "float" else np.float64)
        return _rounded(values.astype(np.longdouble), kind, rounding)
    kind = np.dtype(_WHOLE[target])
    limits = np.iinfo(kind)
    whole = _TO_WHOLE[rounding](values.astype(np.longdouble))
    clipped = np.clip(np.nan_to_num(whole, nan=0.0), limits.min, limits.max).astype(kind)
    if values.dtype == np.float32 and kind.itemsize == 4:
        return clipped  # in which a NaN is 0; else it has the highest bit alone (PTX, `cvt`)
    highest = np.array(1 << (8 * kind.itemsize - 1), f"u{kind.itemsize}").view(kind)
    return np.where(np.isnan(values), highest, clipped)


def _of_torch(function: Any) -> _Function:
    def call(*values: Any) -> Any:
        given = [torch.from_numpy(np.ascontiguousarray(value)) for value in values]
        shaped = torch.broadcast_tensors(*given)
        return np.asarray(function(*shaped).numpy())

    return call


def _gamma(value: float) -> float:
    try:
        return math.gamma(value)
    except OverflowError:
        return math.copysign(math.inf, value)
    except ValueError:  # at a pole
        return math.nan if value else math.copysign(math.inf, value)


def _remainder(value: float, divisor: float) -> float:
    try:
        return math.remainder(value, divisor)
    except ValueError:
        return math.nan


def _power(base: Any, exponent: Any) -> Any:
    if np.issubdtype(exponent.dtype, np.integer):  # so that it stays even, or odd
        return np.power(base.astype(np.float64), exponent.astype(np.float64))
    return np.power(base, exponent)


def _half_away(values: Any) -> Any:
    whole = np.trunc(values)
    more = np.where(np.abs(values - whole) >= 0.5, np.copysign(1, values), 0)
    return np.copysign(whole + more.astype(values.dtype), values)


def _exponent(values: Any, of_zero: float, of_infinity: float, of_nan: float) -> Any:
    found = np.frexp(values)[1].astype(np.float64) - 1
    found = np.where(values == 0, of_zero, np.where(np.isinf(values), of_infinity, found))
    return np.where(np.isnan(values), of_nan, found)


def _of_half_turns(ahead: int) -> _Function:
    """The sine of so many half turns, and `ahead` quarters more: of the distance to the nearest
    quarter, which is exact, so that it is right near its zeros as well."""

    def call(turns: Any) -> Any:
        rest = np.fmod(_wide(turns), 2)
        quarters = np.rint(2 * rest)
        angle = np.pi * (rest - quarters / 2)
        place = np.where(np.isfinite(quarters), quarters, 0).astype(np.int64) + ahead
        found = np.where(place % 2, np.cos(angle), np.sin(angle))
        return np.where(place // 2 % 2, -found, found)

    return call


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
    return functools.reduce(np.hypot, map(_wide, values))


def _viewed(kind: Any) -> _Function:
    return lambda values: np.ascontiguousarray(values).view(kind)


_fused_double = np.vectorize(_fused_one, otypes=[np.float64])
_WHOLE: dict[str, Any] = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}
_TO_WHOLE: dict[str, _Function] = {
    "rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil,
}  # fmt: skip
_EXACT: dict[str, _Function] = {
    "add": _added,
    "sub": lambda x, y: _added(x, -y),
    "mul": lambda x, y: _wide(x) * _wide(y),
    "div": lambda x, y: _wide(x) / _wide(y),
    "rcp": lambda x: 1 / _wide(x),
    "sqrt": lambda x: np.sqrt(_wide(x)),
    "rsqrt": lambda x: 1 / np.sqrt(_wide(x)),
    "fma": _fused,
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
    "sinpi": _of_half_turns(0),
    "cospi": _of_half_turns(1),
    "erfcx": _of_torch(torch.special.erfcx),
    "erfcinv": _of_torch(lambda x: -torch.special.ndtri(x.double() / 2) / math.sqrt(2)),
    "normcdf": _of_torch(lambda x: torch.erfc(-x.double() / math.sqrt(2)) / 2),
    "normcdfinv": _of_torch(torch.special.ndtri),
    "cyl_bessel_i0": _of_torch(torch.special.i0),
    "cyl_bessel_i1": _of_torch(torch.special.i1),
    "tgamma": np.vectorize(_gamma, otypes=[np.float64]),
    "pow": _power,
    "remainder": np.vectorize(_remainder, otypes=[np.float64]),
    "fma": _fused,
    "fdim": lambda x, y: np.where(x <= y, 0, x - y),
    "ldexp": np.ldexp,
    "scalbn": np.ldexp,
    "logb": lambda x: _exponent(x, -math.inf, math.inf, math.nan),
    "ilogb": lambda x: _exponent(x, -(2**31), 2**31 - 1, -(2**31)),
    "llrint": lambda x: _converted(x, "ll", "rn"),
    "nearbyint": np.rint,
    "round": _half_away,
    "llround": lambda x: _converted(_half_away(x), "ll", "rz"),
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
