"""What the figures of `growth` say: exponents, and which curve rises the most."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LINEAR = 1.15
"""Up to this exponent a cost counts as linear: processor time is counted in ticks of 10 ms."""


@dataclass(frozen=True)
class Point:
    """What something cost at a size."""

    size: int
    cost_ms: float


@dataclass(frozen=True)
class Curve:
    """Cost against size. `of`: what was done; `what`: what grew."""

    what: str
    of: str
    points: tuple[Point, ...]

    def exponent(self) -> float | None:
        """How cost grows from the second largest size to the largest: cost ~ size ** exponent.
        The end says what comes next; at small sizes what is constant hides it. None without
        two points that cost anything."""
        if len(self.points) < 2:
            return None
        before, last = self.points[-2:]
        if before.cost_ms <= 0 or last.cost_ms <= 0:
            return None
        return math.log(last.cost_ms / before.cost_ms) / math.log(last.size / before.size)

    def is_above_linear(self) -> bool:
        """Whether twice the size costs more than twice as much."""
        exponent = self.exponent()
        return exponent is not None and exponent > LINEAR


def first_to_give_way(curves: Sequence[Curve]) -> Curve | None:
    """The curve with the largest exponent. None if none has one."""
    with_exponents = [curve for curve in curves if curve.exponent() is not None]
    return max(with_exponents, key=lambda curve: curve.exponent() or 0.0, default=None)
