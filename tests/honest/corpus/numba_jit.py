# style: numba.njit with a cache on disk
# problem: out
# needs: numba
import numba
import numpy as np


@numba.njit(cache=True, fastmath=True)
def triple(x, out):
    for i in range(x.size):
        out[i] = 3 * x[i]


def custom_kernel(data):
    x, out = data
    triple(x, out)
    return out
