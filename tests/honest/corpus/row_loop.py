# style: a loop over rows with a rolling buffer
# problem: stencil
import numpy as np


def custom_kernel(grid):
    rows, cols = grid.shape
    out = np.empty((rows - 2, cols - 2))
    sideways = np.empty(cols - 2)
    for i in range(1, rows - 1):
        np.add(grid[i, :-2], grid[i, 2:], out=sideways)
        sideways += grid[i - 1, 1:-1]
        sideways += grid[i + 1, 1:-1]
        np.multiply(sideways, 0.25, out=out[i - 1])
    return out
