# style: even and odd elements apart, through strided views
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    out = np.empty_like(x)
    for offset in (0, 1):
        np.multiply(x[offset::2], np.float32(a), out=out[offset::2])
        out[offset::2] += y[offset::2]
    return out
