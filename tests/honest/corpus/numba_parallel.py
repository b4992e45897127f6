# style: numba.prange
# problem: out
# needs: numba
import numba


@numba.njit(parallel=True)
def triple(x, out):
    for i in numba.prange(x.size):
        out[i] = 3 * x[i]


def custom_kernel(data):
    x, out = data
    triple(x, out)
    return out
