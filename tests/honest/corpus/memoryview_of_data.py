# style: the buffer protocol
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    left, right = np.asarray(memoryview(x)), np.asarray(memoryview(y))
    return np.float32(a) * left + right
