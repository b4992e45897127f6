# style: every name annotated
# problem: axpy
from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
SCALAR: Final = np.float32


class Given(NamedTuple):
    a: float
    x: Vector
    y: Vector


def custom_kernel(data: tuple[float, Vector, Vector]) -> Vector:
    given: Given = Given(*data)
    result: Vector = SCALAR(given.a) * given.x + given.y
    return result
