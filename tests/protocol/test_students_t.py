"""The quantiles by which an interval of few measurements is wide enough."""

import math

import pytest

from kernelbot.protocol import scoring

QUANTILES = (*scoring._T95, *scoring._T95_MORE)


def within(t: float, freedom: int) -> float:
    """How probable it is that Student's t is between -t and t: Simpson's rule."""
    scale = math.gamma((freedom + 1) / 2) / (math.sqrt(freedom * math.pi) * math.gamma(freedom / 2))
    steps = 4000
    width = 2 * t / steps
    heights = (
        (1 if step in (0, steps) else 4 if step % 2 else 2)
        * (1 + (step * width - t) ** 2 / freedom) ** (-(freedom + 1) / 2)
        for step in range(steps + 1)
    )
    return scale * width / 3 * math.fsum(heights)


@pytest.mark.parametrize(("freedom", "t"), list(enumerate(QUANTILES, start=1)))
def test_each_holds_95_percent(freedom: int, t: float) -> None:
    assert 0.95 == pytest.approx(within(t, freedom), abs=1e-4)
