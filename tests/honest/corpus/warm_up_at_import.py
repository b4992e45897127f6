# style: calls itself some times at import
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    return np.float32(a) * x + y


for size in (1, 100, 10_000):
    ones = np.ones(size, np.float32)
    for _ in range(5):
        custom_kernel((1.0, ones, ones))
