# style: np.ma with nothing masked
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    masked = np.ma.masked_invalid(x)
    return (np.float32(a) * masked + y).filled(0)
