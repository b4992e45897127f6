# style: an output buffer for each shape, filled anew
# problem: axpy
import numpy as np

_buffers = {}


def custom_kernel(data):
    a, x, y = data
    out = _buffers.get(x.shape)
    if out is None:
        out = _buffers[x.shape] = np.empty_like(x)
    np.multiply(x, np.float32(a), out=out)
    out += y
    return out
