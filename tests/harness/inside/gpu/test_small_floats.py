"""bfloat16 and 8-bit floats in Triton's interpreter are the numbers that they stand for."""

import json
import math
from typing import Any

import pytest

from tests.harness.inside.gpu.test_emulation import answers

pytest.importorskip("torch", reason="torch isn't installed")
pytest.importorskip("triton", reason="triton isn't installed")
pytestmark = pytest.mark.torch

KERNELS = """
import json
import triton
import triton.language as tl

@triton.jit
def each(x, y, out, whole, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + N + i, a * b)
    tl.store(out + 2 * N + i, -a)
    tl.store(out + 3 * N + i, tl.where((a < b) & (b > 0), a, b))
    tl.store(out + 4 * N + i, a * 1.5)
    tl.store(out + 5 * N + i, a.to(tl.float32) + 0.001)
    tl.store(out + 6 * N + i, tl.cumsum(a, 0))
    tl.store(whole + i, a.to(tl.int32))
    tl.store(whole + N + i, (i * 1001).to(tl.bfloat16).to(tl.int32))

@triton.jit
def products(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, tl.dot(a, b))

@triton.jit
def all_of(x, out, N: tl.constexpr):
    a = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.sum(a, 0))
    tl.store(out + 1, tl.max(a, 0))
    tl.store(out + 2, tl.min(a, 0))

@triton.jit
def to_small(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty))

@triton.jit
def without_nan(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(out + i, tl.maximum(a, 1.0))
    tl.store(out + N + i, tl.minimum(a, 1.0))
    tl.store(out + 2 * N + i, tl.clamp(a, 0.0, 0.5))
    tl.store(out + 3 * N + i, tl.maximum(a, 1.0, propagate_nan=tl.PropagateNan.ALL))

@triton.jit
def added(x):
    tl.atomic_add(x, 1.0)

def same(expected, got):
    return bool(torch.equal(expected.nan_to_num(7e7), got.nan_to_num(7e7)))

def told():
    torch.manual_seed(1)
    found = {}
    a, b = ((torch.randn(64) * 3).bfloat16() for _ in range(2))
    out, whole = torch.zeros(7, 64).bfloat16(), torch.zeros(2, 64, dtype=torch.int32)
    each[(1,)](a, b, out, whole, 64)
    chosen = torch.where((a < b) & (b > 0), a, b)
    sums = a.float().cumsum(0).bfloat16()
    expected = [a + b, a * b, -a, chosen, a * 1.5, (a.float() + 0.001).bfloat16(), sums]
    found["each"] = [same(one, got) for one, got in zip(expected, out)]
    exact = (torch.arange(64) * 1001).bfloat16().int()
    found["integers"] = [same(a.int(), whole[0]), same(exact, whole[1])]
    x, y = ((torch.randn(16, 16)).bfloat16() for _ in range(2))
    out = torch.zeros(16, 16)
    products[(1,)](x, y, out, 16)
    found["dot"] = bool(torch.allclose(x.float() @ y.float(), out, atol=1e-5))
    out = torch.zeros(3).bfloat16()
    all_of[(1,)](a, out, 64)
    found["all"] = same(torch.stack([a.float().sum(), a.max(), a.min()]).bfloat16(), out)
    values = torch.tensor([1.99, -1.0625, 0.0, 1e9, float("nan"), 2**-9, 17.0, -300.0])
    for name in ("float8_e4m3fn", "float8_e5m2", "bfloat16"):
        out = torch.zeros(8).to(getattr(torch, name))
        to_small[(1,)](values, out, 8)
        found[name] = [str(one) for one in out.float().tolist()]
    small = x.to(torch.float8_e4m3fn), y.to(torch.float8_e4m3fn)
    out = torch.zeros(16, 16)
    products[(1,)](*small, out, 16)
    exact = small[0].float() @ small[1].float()
    found["dot of 8 bits"] = bool(torch.allclose(exact, out, atol=1e-5))
    out = torch.zeros(4, 2)
    without_nan[(1,)](torch.tensor([float("nan"), 0.75]), out, 2)
    found["nan"] = [str(one) for one in out.flatten().tolist()]
    try:
        added[(1,)](torch.zeros(1).bfloat16())
    except Exception as error:
        found["atomic"] = str(error)
    return json.dumps(found)
print(told())
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the kernels have computed, each beside what torch says where that is known."""
    told: dict[str, Any] = json.loads(answers(tmp_path_factory.mktemp("small"), KERNELS)[-1])
    return told


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("each", [True] * 7),
        ("integers", [True, True]),
        ("dot", True),
        ("dot of 8 bits", True),
        ("all", True),
    ],
)
def test_small_floats_are_the_numbers_that_they_stand_for(
    found: dict[str, Any], part: str, expected: object
) -> None:
    assert expected == found[part]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("float8_e4m3fn", [2.0, -1.0, 0.0, 448.0, math.nan, 2**-9, 16.0, -288.0]),
        ("float8_e5m2", [2.0, -1.0, 0.0, 57344.0, math.nan, 2**-9, 16.0, -320.0]),
        ("bfloat16", [1.9921875, -1.0625, 0.0, 998244352.0, math.nan, 2**-9, 17.0, -300.0]),
    ],
)
def test_floats_are_rounded_to_the_nearest(
    found: dict[str, Any], kind: str, expected: list[float]
) -> None:
    assert [str(value) for value in expected] == found[kind]


def test_the_greater_of_a_number_and_of_none_is_the_number(found: dict[str, Any]) -> None:
    assert ["1.0", "1.0", "1.0", "0.75", "0.0", "0.5", "nan", "1.0"] == found["nan"]


def test_an_atomic_addition_of_bfloat16_is_refused(found: dict[str, Any]) -> None:
    assert "atomics of bf16 have no values in Triton's interpreter" in found["atomic"]
