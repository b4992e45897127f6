# style: lru_cache of plans for shapes
# problem: axpy
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass(frozen=True)
class Plan:
    bounds: tuple[tuple[int, int], ...]


@lru_cache(maxsize=None)
def plan_for(size):
    step = 16384
    return Plan(tuple((at, min(at + step, size)) for at in range(0, size, step)))


def custom_kernel(data):
    a, x, y = data
    out = np.empty_like(x)
    for start, end in plan_for(x.size).bounds:
        np.multiply(x[start:end], np.float32(a), out=out[start:end])
        out[start:end] += y[start:end]
    return out
