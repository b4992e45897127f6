# style: column-major operands and result
# problem: gemm
import numpy as np


def custom_kernel(data):
    a, b = data
    out = np.empty((a.shape[0], b.shape[1]), np.float32, order="F")
    np.matmul(np.asfortranarray(a), np.asfortranarray(b), out=out)
    return out
