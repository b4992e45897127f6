# style: sums what a generator yields
# problem: stencil
import numpy as np


def parts(grid):
    inner = slice(1, -1)
    yield grid[:-2, inner]
    yield grid[2:, inner]
    yield grid[inner, :-2]
    yield grid[inner, 2:]


def custom_kernel(grid):
    return np.add.reduce(list(parts(grid))) / 4
