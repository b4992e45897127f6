"""Triton's libdevice in its interpreter."""

import importlib
import inspect
import math
from pathlib import Path
from typing import Any

import pytest

from kernelbot.harness.inside.gpu import libdevice
from tests.harness.inside.gpu.test_emulation import answers
from tests.support.exhaustive import few

pytest.importorskip("torch", reason="torch isn't installed")
pytest.importorskip("triton", reason="triton isn't installed")
np: Any = importlib.import_module("numpy")
functions: Any = importlib.import_module("kernelbot.harness.inside.gpu.libdevice_functions")
pytestmark = pytest.mark.torch

KERNEL = """
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda.libdevice import rsqrt

@triton.jit
def kernel(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    tl.store(y + at, FORMULA)

def told(kind=torch.float32):
    x = torch.tensor([1.0, 4.0, 16.0, 0.25]).to(kind).cuda()
    y = torch.empty_like(x, dtype=torch.float32)
    try:
        kernel[(1,)](x, y, 4)
    except Exception as error:
        return str(error)
    return [round(value, 3) for value in y.tolist()]
"""
NOT_COVERED = {"double2hiint", "double2loint", "hiloint2double", "jn", "rcp64h", "yn"}


@pytest.mark.exhaustive  # each run has test_values
@pytest.mark.parametrize(
    ("formula", "expected"),
    few(
        [
            ("libdevice.log2(value)", [0.0, 2.0, 4.0, -2.0]),
            ("libdevice.pow(value, 2)", [1.0, 16.0, 256.0, 0.062]),
            ("rsqrt(value) + libdevice.floor(2.5)", [3.0, 2.5, 2.25, 4.0]),
            ("tl.where(~libdevice.isnan(tl.sqrt(value - 1)), 1.0, 0.0)", [1.0, 1.0, 1.0, 0.0]),
            (
                "tl.sum(libdevice.fma(value[:, None], value[None, :], 1.0), 0)",
                [25.25, 89, 344, 9.312],
            ),
        ],
        2,
    ),
)
def test_a_kernel_s_functions_have_values(
    tmp_path: Path, formula: str, expected: list[float]
) -> None:
    code = KERNEL.replace("FORMULA", formula) + "print(told())"
    assert [str([float(value) for value in expected])] == answers(tmp_path, code)


@pytest.mark.exhaustive  # each run has test_values
def test_what_a_gpu_doesn_t_take_or_nobody_has_written_is_a_sentence(tmp_path: Path) -> None:
    kinds = KERNEL.replace("FORMULA", "libdevice.exp(value)") + "print(told(torch.float16))"
    unknown = KERNEL.replace("FORMULA", "libdevice.jn(1, value)") + "print(told())"
    wrong, missing = answers(tmp_path, kinds), answers(tmp_path, unknown)
    assert ["libdevice.exp takes (fp32) or (fp64), not (fp16)" in line for line in wrong] == [True]
    assert ["libdevice.jn isn't covered on the device CPU" in line for line in missing] == [True]


def test_every_function_of_triton_s_is_known() -> None:
    """By what `compute` answers if it is given no arguments: only a known function asks for one."""
    stubs = importlib.import_module("triton.language.extra.libdevice")
    unknown = set()
    for name, _ in inspect.getmembers(stubs, inspect.isfunction):
        try:
            functions.compute(name, [])
        except NotImplementedError:
            unknown.add(name)
        except (TypeError, ValueError, IndexError):
            pass
    assert NOT_COVERED == unknown


def test_every_function_has_types() -> None:
    stubs = importlib.import_module("triton.language.extra.libdevice")
    core = importlib.import_module("triton.language.core")
    found = {
        name: set(libdevice._types(name).values())
        for name, _ in inspect.getmembers(stubs, inspect.isfunction)
    }
    assert [] == [name for name, types in found.items() if not types]
    assert [{core.int1}] * 4 == [found[name] for name in ("isnan", "isinf", "isfinited", "finitef")]


f4, f8, i4, u4, i8 = np.float32, np.float64, np.int32, np.uint32, np.int64
HUGE = 2**31 - 1
INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "kind", "args", "expected"),
    [
        ("clz", i4, [[0, 1, -1]], [32, 31, 0]),
        ("popc", i4, [[0, 7, -1]], [0, 3, 32]),
        ("ffs", i8, [[0, 8, -1]], [0, 4, 1]),
        ("brev", i4, [[1, 3]], [-(2**31), -(2**30)]),
        ("mulhi", i4, [[HUGE, -1], [2, 1]], [0, -1]),
        ("mulhi", u4, [[2**31], [6]], [3]),
        ("mul24", i4, [[0x1000003], [5]], [15]),
        ("sad", i4, [[HUGE], [-1], [1]], [2**31 + 1]),
        ("hadd", i4, [[HUGE, -3], [HUGE, 0]], [HUGE, -2]),
        ("rhadd", i4, [[2], [3]], [3]),
        ("byte_perm", i4, [[0x33221100], [0x77665544], [0x0426]], [0x00442266]),
        ("float2int_rn", f4, [[2.5, -2.5, 1e20, math.nan]], [2, -2, HUGE, 0]),
        ("float2int_rz", f4, [[2.9, -2.9]], [2, -2]),
        ("float2uint_rd", f4, [[-3.0, 3.9]], [0, 3]),
        ("float2ll_ru", f4, [[2.1]], [3]),
        ("int2float_rz", i4, [[HUGE, -HUGE]], [2**31 - 128, -(2**31) + 128]),
        ("int2float_ru", i4, [[HUGE]], [2**31]),
        ("add_rd", f4, [[1.0], [1e-10]], [1.0]),
        ("add_ru", f4, [[1.0], [1e-10]], [1.0 + 2**-23]),
        ("div_rz", f4, [[-1.0], [3.0]], [-0.3333333134651184]),
        ("add_ru", f4, [[1.0], [1e-20]], [1.0 + 2**-23]),
        ("add_rz", f4, [[1.0], [-1e-20]], [1.0 - 2**-24]),
        ("sub_rd", f4, [[1.0], [1e-20]], [1.0 - 2**-24]),
        ("add_rn", f4, [[1.0], [-1e-20]], [1.0]),
        ("fma", f8, [[1 + 2**-30], [1 + 2**-30], [-((1 + 2**-30) ** 2)]], [2**-60]),
        ("fma", f8, [[INF, 1e308], [1.0, 10.0], [1.0, -INF]], [INF, -INF]),
        ("fma", f8, [[2.0], [2.0**1023], [-(2.0**1023)]], [2.0**1023]),
        ("fma", f8, [[1 + 2**-52], [1 - 2**-52], [2.0**53 + 2]], [2.0**53 + 2]),
        ("fma", f8, [[2.0**1000], [2.0**-30], [-(2.0**970) + 2.0**918]], [2.0**918]),
        ("fma", f8, [[NAN], [1.0], [1.0]], [NAN]),
        ("fma", f8, [[-1e308], [10.0], [1.0]], [-INF]),
        ("fma_rn", f4, [[1 + 2**-12], [1 + 2**-12], [2**-60]], [1.000488400459289550781]),
        ("fma", f4, [[1 + 2**-12], [1 + 2**-12], [-1 - 2**-11]], [2**-24]),
        ("round", f4, [[0.49999997, 2.5, -2.5]], [0.0, 3.0, -3.0]),
        ("round", f4, [[8388609.0]], [8388609.0]),
        ("llround", f4, [[2.5, 1e20, -1e20]], [3, 2**63 - 1, -(2**63)]),
        ("llrint", f4, [[2.5, 1e20]], [2, 2**63 - 1]),
        ("remainder", f4, [[5.0, 1e10, 5.0], [3.0, 3.0, INF]], [-1.0, 1.0, 5.0]),
        ("fdim", f4, [[3.0, 1.0, INF, INF], [1.0, 3.0, INF, -INF]], [2.0, 0.0, 0.0, INF]),
        ("ilogb", f4, [[8.0, 0.3, 0.0, INF]], [3, -2, -(2**31), 2**31 - 1]),
        ("logb", f4, [[8.0, 0.0, -INF]], [3.0, -INF, INF]),
        ("double2int_rn", f8, [[NAN, 1e10]], [-(2**31), HUGE]),
        ("float2ull_rn", f4, [[NAN, -1.0]], [2**63, 0]),
        ("pow", f4, [[-1.0], np.array([16777217], i4)], [-1.0]),
        ("norm3d", f8, [[1e200], [1e200], [INF]], [INF]),
        ("tgamma", f4, [[-0.0, 171.0 * 2]], [-INF, INF]),
        ("sinpi", f4, [[1.0, 0.5, -3.0]], [0.0, 1.0, 0.0]),
        ("cospi", f4, [[0.5, 1.5, 0.0]], [0.0, 0.0, 1.0]),
        ("saturatef", f4, [[2.0, -1.0, math.nan]], [1.0, 0.0, 0.0]),
        ("tgamma", f4, [[5.0]], [24.0]),
        ("norm3d", f4, [[2.0], [3.0], [6.0]], [7.0]),
        ("rnorm4d", f4, [[1.0], [1.0], [1.0], [1.0]], [0.5]),
        ("float_as_int", f4, [[1.0]], [0x3F800000]),
        ("int_as_float", i4, [[0x3F800000]], [1.0]),
        ("cospi", f4, [[1.0, 2.0]], [-1.0, 1.0]),
        ("exp10", f4, [[2.0]], [100.0]),
        ("erfcinv", f4, [[1.0]], [0.0]),
        ("normcdf", f4, [[0.0]], [0.5]),
        ("j0", f4, [[0.0]], [1.0]),
        ("isfinited", f4, [[math.inf, 1.0]], [False, True]),
    ],
)
def test_values(name: str, kind: Any, args: list[list[float]], expected: list[float]) -> None:
    given = [
        values if isinstance(values, np.ndarray) else np.array(values, kind) for values in args
    ]
    found = functions.compute(name, given)
    np.testing.assert_array_equal(found, np.array(expected))


@pytest.mark.parametrize(
    ("name", "near"), [("sinpi", 1 - 2**-53), ("sinpi", 5.000001), ("cospi", 0.50001)]
)
def test_functions_of_turns_are_right_near_their_zeros(name: str, near: float) -> None:
    found = functions.compute(name, [np.array([near])]).item()
    turn = round(near * 2) / 2
    sign = {("sinpi", 1.0): -1, ("sinpi", 5.0): -1, ("cospi", 0.5): -1}[name, turn]
    assert sign * math.sin(math.pi * (near - turn)) == pytest.approx(found, rel=1e-14)


def test_the_normal_distribution_s_tail_is_not_rounded_away() -> None:
    found = functions.compute("normcdf", [np.array([-6.0], f4)])
    assert 9.865876e-10 == pytest.approx(found.item(), rel=1e-6)


def test_another_direction_of_64_bits_is_not_covered() -> None:
    with pytest.raises(NotImplementedError, match="rounding rd of 64 bits"):
        functions.compute("add_rd", [np.array([1.0]), np.array([1e-20])])
