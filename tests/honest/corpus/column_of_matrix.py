# style: returns a strided column of a larger array
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    both = np.empty((x.size, 2), np.float32)
    both[:, 0] = np.float32(a) * x
    both[:, 1] = both[:, 0] + y
    return both[:, 1]
