# style: fills the vector through a view, in halves
# problem: out
import numpy as np


def custom_kernel(data):
    x, out = data
    half = x.size // 2
    np.multiply(x[:half], 3.0, out=out[:half])
    out[half:] = x[half:] * 3.0
    return out[:]
