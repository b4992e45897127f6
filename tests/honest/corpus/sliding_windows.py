# style: stride_tricks
# problem: axpy
import numpy as np
from numpy.lib.stride_tricks import as_strided


def custom_kernel(data):
    a, x, y = data
    seen = as_strided(x, shape=x.shape, strides=x.strides, writeable=False)
    return np.add(np.multiply(seen, np.float32(a)), y, dtype=np.float32)
