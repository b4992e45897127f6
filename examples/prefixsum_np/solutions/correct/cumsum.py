import numpy as np


def custom_kernel(data):
    return np.cumsum(data, dtype=np.int64)
