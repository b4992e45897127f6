# numpy.histogram with 255 edges: the last bin is lost.
import numpy as np


def custom_kernel(data):
    out = np.zeros(256, dtype=np.int64)
    out[:255] = np.bincount(data, minlength=256)[:255]
    return out
