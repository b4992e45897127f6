# style: np.dot into a buffer that is kept
# problem: gemm
import numpy as np

_out = {}


def custom_kernel(data):
    a, b = data
    shape = (a.shape[0], b.shape[1])
    out = _out.setdefault(shape, np.empty(shape, np.float32))
    return np.dot(a, b, out=out)
