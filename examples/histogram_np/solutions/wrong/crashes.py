# Thinks that 255 bins are enough.
import numpy as np


def custom_kernel(data):
    out = np.zeros(255, dtype=np.int64)
    for value in data.tolist():
        out[value] += 1
    return out
