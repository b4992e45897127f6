# style: a sum of outer products
# problem: gemm
import numpy as np


def custom_kernel(data):
    a, b = data
    out = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for column, row in zip(a.T, b):
        out += column[:, None] * row
    return out
