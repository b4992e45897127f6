# style: returns a view with a negative stride
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    backwards = np.float32(a) * x[::-1] + y[::-1]
    return backwards[::-1]
