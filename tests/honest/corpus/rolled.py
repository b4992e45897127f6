# style: np.roll and a view of the inner part
# problem: stencil
import numpy as np


def custom_kernel(grid):
    total = sum(np.roll(grid, shift, axis) for shift in (1, -1) for axis in (0, 1))
    return total[1:-1, 1:-1] / 4
