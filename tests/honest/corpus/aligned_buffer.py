# style: a buffer aligned to 64 bytes
# problem: axpy
import numpy as np


def aligned(size, alignment=64):
    raw = np.empty(size * 4 + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + size * 4].view(np.float32)


def custom_kernel(data):
    a, x, y = data
    out = aligned(x.size)
    np.multiply(x, np.float32(a), out=out)
    np.add(out, y, out=out)
    return out
