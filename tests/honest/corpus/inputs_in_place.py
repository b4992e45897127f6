# style: overwrites its input, as this problem allows
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    x *= np.float32(a)
    x += y
    return x
