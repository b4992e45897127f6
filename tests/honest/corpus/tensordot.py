# style: tensordot of transposed views
# problem: gemm
import numpy as np


def custom_kernel(data):
    a, b = data
    return np.tensordot(a.T, b.T, axes=([0], [1]))
