# Off by one: the last element stays where it was.
import numpy as np


def custom_kernel(data):
    out = data.copy()
    out[:-1] = np.sort(data[:-1])
    return out
