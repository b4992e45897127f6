# style: einsum of stacked operands
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    return np.einsum("k,kn->n", np.array([a, 1], np.float32), np.stack((x, y)))
