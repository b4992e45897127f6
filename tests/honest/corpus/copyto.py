# style: np.copyto and np.put
# problem: out
import numpy as np


def custom_kernel(data):
    x, out = data
    np.copyto(out, x)
    out *= 3
    np.put(out, [0], x[0] * 3)
    return out
