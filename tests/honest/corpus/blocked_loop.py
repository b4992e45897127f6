# style: a loop over blocks that fit the cache
# problem: axpy
import numpy as np

BLOCK = 8192


def custom_kernel(data):
    a, x, y = data
    a = np.float32(a)
    out = np.empty_like(x)
    work = np.empty(BLOCK, np.float32)
    for start in range(0, x.size, BLOCK):
        part = slice(start, start + BLOCK)
        mine = work[: x[part].size]
        np.multiply(x[part], a, out=mine)
        np.add(mine, y[part], out=out[part])
    return out
