# style: sliding_window_view and einsum
# problem: stencil
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

WEIGHTS = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) / 4


def custom_kernel(grid):
    return np.einsum("ijkl,kl->ij", sliding_window_view(grid, (3, 3)), WEIGHTS)
